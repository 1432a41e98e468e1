"""Pods and templates that older rules accepted can still be updated."""

import pytest

from apimachinery.fieldpath import Path
from apis.core.v1.pod import Pod
from apis.core.v1.pod_template import PodTemplate
from apis.core.validation.pod import (
    validate_pod,
    validate_pod_template_spec,
    validate_pod_update,
)
from tests.apis.core.pod.building import Fields, pod
from tests.apis.validating import decoded, messages

TERM: Fields = {"topologyKey": "zone"}
INVALID_VALUE: Fields = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a b"]}]}
MERGED: Fields = {
    "matchLabels": {"a": "b"},
    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
}
SPREAD: Fields = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}

STORED: list[Fields] = [
    {
        "affinity": {
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {**TERM, "labelSelector": INVALID_VALUE}
                ]
            }
        }
    },
    {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [INVALID_VALUE]
                }
            }
        }
    },
    {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}},
            }
        ]
    },
    {"overhead": {"cpu": "1", "hugepages-2Mi": "3Mi"}},
    {"topologySpreadConstraints": [{**SPREAD, "labelSelector": INVALID_VALUE}]},
    {
        "serviceAccountName": "sa",
        "volumes": [
            {
                "name": "v",
                "projected": {"sources": [{"serviceAccountToken": {"path": "/a"}}]},
            }
        ],
    },
    {
        "hostNetwork": True,
        "securityContext": {"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]},
    },
    {
        "initContainers": [
            {
                "name": "x",
                "image": "i",
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
            }
        ]
    },
    {
        "hostUsers": False,
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}],
        "containers": [
            {
                "name": "c",
                "image": "i",
                "volumeDevices": [{"name": "v", "devicePath": "/dev/a"}],
            }
        ],
    },
    {"volumes": [{"name": "v", "image": {"reference": ""}}]},
    {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"add": ["CAP_SYS_ADMIN"]},
                },
            }
        ]
    },
]


@pytest.mark.parametrize("spec", STORED)
def test_a_stored_pod_keeps_what_older_rules_accepted(spec: Fields) -> None:
    old, new = stored(spec), stored(spec, labels={"a": "b"})

    assert messages(validate_pod(old)) != []
    assert messages(validate_pod_update(new, old)) == []


@pytest.mark.parametrize("spec", STORED)
def test_a_stored_template_keeps_what_older_rules_accepted(spec: Fields) -> None:
    document = {"template": {"spec": {"containers": [{"name": "c", "image": "i"}], **spec}}}
    template = decoded(PodTemplate, document).template

    assert messages(validate_pod_template_spec(template, Path("template"))) != []
    assert messages(validate_pod_template_spec(template, Path("template"), template)) == []


def test_a_stored_deletion_cost_may_be_malformed() -> None:
    cost = {"controller.kubernetes.io/pod-deletion-cost": "many"}
    old, new = stored({}, annotations=cost), stored({}, annotations=cost, labels={"a": "b"})

    assert messages(validate_pod_update(new, old)) == []


def test_stored_keys_of_a_spread_constraint_follow_the_older_rule() -> None:
    """Older servers did not merge the keys into the selector, and refused keys in both."""
    constraint = {**SPREAD, "matchLabelKeys": ["a"], "labelSelector": MERGED}
    old = stored({"topologySpreadConstraints": [constraint]})

    assert messages(validate_pod_update(old, old)) == [
        'spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "a": '
        "exists in both matchLabelKeys and labelSelector"
    ]


def stored(spec: Fields, **metadata: Fields) -> Pod:
    return pod(spec, {"resourceVersion": "1", **metadata})
