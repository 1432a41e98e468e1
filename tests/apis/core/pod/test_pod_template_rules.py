"""Templates of pods in other kinds: where their rules differ from those of pods."""

from typing import Any

import pytest

from apimachinery.fieldpath import Path
from apis.core.v1.binding import Binding
from apis.core.v1.pod_template import PodTemplate
from apis.core.validation.pod import validate_pod_binding, validate_pod_template_spec
from tests.apis.core.pod.building import Fields
from tests.apis.core.pod.rules import LABEL_VALUE, QUALIFIED, SUBDOMAIN
from tests.apis.validating import decoded, messages

ANNOTATION = "container.apparmor.security.beta.kubernetes.io/c"


def errors(spec: Fields, **metadata: Any) -> list[str]:
    container = {"name": "c", "image": "i"}
    document = {"metadata": metadata, "spec": {"containers": [container], **spec}}
    template = decoded(PodTemplate, {"template": document}).template
    return messages(validate_pod_template_spec(template, Path("spec", "template")))


def test_metadata_have_shorter_paths() -> None:
    assert errors({}, labels={"a": "c d"}, annotations={"a b": ""}) == [
        f'spec.template.labels: Invalid value: "c d": {LABEL_VALUE}',
        f'spec.template.annotations: Invalid value: "a b": {QUALIFIED}',
    ]


def test_annotations_and_fields_must_agree() -> None:
    security = {"appArmorProfile": {"type": "RuntimeDefault"}}
    container = {"name": "c", "image": "i", "securityContext": security}

    assert errors({"containers": [container]}, annotations={ANNOTATION: "unconfined"}) == [
        "spec.template.spec.containers[0].securityContext.appArmorProfile.type: Forbidden: "
        "apparmor type in annotation and field must match"
    ]


def test_an_image_may_be_filled_in_later() -> None:
    assert errors({"containers": [{"name": "c", "image": " "}]}) == []


def test_ephemeral_containers_are_for_pods_only() -> None:
    assert errors({"ephemeralContainers": [{"name": "e", "image": "i"}]}) == [
        "spec.template.spec.ephemeralContainers: Forbidden: "
        "ephemeral containers not allowed in pod template"
    ]


def test_a_template_has_no_claims_of_its_own() -> None:
    """Names of claims for ephemeral volumes contain the name of the pod, which is not known."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volumes = [
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
        {"name": "f", "persistentVolumeClaim": {"claimName": "p-e"}},
    ]

    assert errors({"volumes": volumes}) == []


def test_a_host_port_may_be_left_out() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 82}]

    assert errors({"hostNetwork": True, "containers": [{**CONTAINER, "ports": ports}]}) == [
        "spec.template.spec.containers[0].ports[1].hostPort: Invalid value: 82: "
        "must match `containerPort` when `hostNetwork` is true"
    ]


def test_privileged_containers_need_the_policy_of_the_server() -> None:
    spec = {
        "hostNetwork": True,
        "containers": [{**CONTAINER, "securityContext": {"privileged": True}}],
        "securityContext": {"windowsOptions": {"hostProcess": True}},
    }
    template = decoded(PodTemplate, {"template": {"spec": spec}}).template

    assert messages(
        validate_pod_template_spec(template, Path("template"), allow_privileged=False)
    ) == [
        "template.spec.containers[0].securityContext.privileged: Forbidden: "
        "disallowed by cluster policy",
        "template.spec: Forbidden: hostProcess containers are disallowed by cluster policy",
    ]


CONTAINER: Fields = {"name": "c", "image": "i"}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"name": "n"}, []),
        ({"kind": "Node", "name": "n"}, []),
        (
            {"kind": "Pod", "name": "A b"},
            ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
        ),
        ({"name": ""}, ["target.name: Required value"]),
        ({"name": "A b"}, [f'target.name: Invalid value: "A b": {SUBDOMAIN}']),
    ],
)
def test_bindings(target: Fields, expected: list[str]) -> None:
    binding = decoded(Binding, {"metadata": {"name": "p"}, "target": target})

    assert messages(validate_pod_binding(binding)) == expected
