"""Objects in the form of Kubernetes' internal structs, and the difference between two of them."""

from time import process_time

from apimachinery.meta.types import ObjectMeta
from apis.core.v1.container import Container
from apis.core.v1.env import EnvVar
from apis.core.v1.network_volume_sources import RBDVolumeSource
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaimTemplate
from apis.core.v1.pod import PodSpec
from apis.core.v1.security_context import Capabilities, SeccompProfile
from apis.core.validation.internal_form import internal_form
from apis.core.validation.struct_diff import struct_diff
from tests.pauses import measures_time


def test_unset_fields_are_null_and_names_are_those_of_the_source() -> None:
    assert internal_form(SeccompProfile(type="Unconfined")) == {
        "Type": "Unconfined",
        "LocalhostProfile": None,
    }
    assert list(internal_form(RBDVolumeSource())) == [
        "CephMonitors",
        "RBDImage",
        "FSType",
        "RBDPool",
        "RadosUser",
        "Keyring",
        "SecretRef",
        "ReadOnly",
    ]


def test_an_empty_list_of_a_document_is_not_null() -> None:
    assert internal_form(Capabilities.model_validate({"add": []})) == {"Add": [], "Drop": None}


def test_metadata_are_embedded() -> None:
    template = PersistentVolumeClaimTemplate(metadata=ObjectMeta(labels={"a": "b"}))

    assert list(internal_form(template)) == ["labels", "Spec"]


def test_a_difference_has_three_lines_of_context() -> None:
    assert struct_diff(SeccompProfile(type="a"), SeccompProfile(type="b")) == (
        '@@ -1,4 +1,4 @@\n {\n- "Type": "a",\n+ "Type": "b",\n  "LocalhostProfile": null\n }\n'
    )


@measures_time
def test_a_large_change_is_shown_without_matching_its_lines() -> None:
    old = spec_with_variables("a", 2000)
    new = spec_with_variables("b", 2000)

    started = process_time()
    diff = struct_diff(old, new)

    assert process_time() - started < 2
    assert diff.startswith("@@ -")
    assert diff.count("\n") <= 2000


def spec_with_variables(value: str, count: int) -> PodSpec:
    variables = [EnvVar(name=f"N{number}", value=value) for number in range(count)]
    return PodSpec(containers=[Container(name="c", env=variables)])
