"""Names of OpenAPI definitions."""

import pytest

from apimachinery.meta.status import Status
from apimachinery.meta.types import Object, ObjectList, ObjectMeta
from apimachinery.model.model import Model
from apimachinery.openapi.definition_names import VersionIndex, package_name, schema_name, unique
from apimachinery.schema import GroupVersion

V1 = GroupVersion("gadgets.example.io", "v1")


class GadgetSpec(Model):
    pass


class Borrowed(Model, definition="io.example.lamps.v1.Shade"):
    pass


class Darker(Borrowed):
    pass


class GadgetV1(Object, kind="Gadget"):
    pass


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("v1", "io.k8s.api.core.v1"),
        ("apps/v1", "io.k8s.api.apps.v1"),
        ("rbac.authorization.k8s.io/v1", "io.k8s.api.rbac.v1"),
        ("flowcontrol.apiserver.k8s.io/v1", "io.k8s.api.flowcontrol.v1"),
        ("internal.apiserver.k8s.io/v1alpha1", "io.k8s.api.apiserverinternal.v1alpha1"),
        (
            "apiextensions.k8s.io/v1",
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
        ),
        ("apiregistration.k8s.io/v1", "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1"),
        ("gateway.networking.k8s.io/v1", "io.k8s.networking.gateway.v1"),
        ("gadgets.example.io/v1beta1", "io.example.gadgets.v1beta1"),
        ("gadgets/v1", "gadgets.v1"),
    ],
)
def test_package_of_a_version(version: str, expected: str) -> None:
    assert package_name(GroupVersion.parse(version)) == expected


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (GadgetSpec, "io.example.gadgets.v1.GadgetSpec"),
        (GadgetV1, "io.example.gadgets.v1.Gadget"),
        (ObjectList[GadgetV1], "io.example.gadgets.v1.GadgetList"),
        (Borrowed, "io.example.lamps.v1.Shade"),
        (Darker, "io.example.gadgets.v1.Darker"),
        (ObjectMeta, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
        (Status, "io.k8s.apimachinery.pkg.apis.meta.v1.Status"),
    ],
)
def test_name_of_a_class(cls: type[Model], expected: str) -> None:
    assert schema_name(cls, V1) == expected


def test_class_is_named_by_the_kind_it_is_registered_as() -> None:
    assert schema_name(GadgetSpec, V1, "Widget") == "io.example.gadgets.v1.Widget"


def test_taken_names_get_the_first_free_number() -> None:
    assert unique("a.B", {"a.C"}) == "a.B"
    assert unique("a.B", {"a.B", "a.B_v2"}) == "a.B_v3"


def test_class_in_a_module_of_two_versions_belongs_to_the_one_that_asks() -> None:
    beta = GroupVersion(V1.group, "v1beta1")
    index = VersionIndex([(V1, GadgetV1), (beta, GadgetV1)])

    assert index.version_of(GadgetSpec, beta) == beta
    assert index.version_of(GadgetSpec, V1) == V1
