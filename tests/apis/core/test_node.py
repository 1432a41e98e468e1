"""Nodes: defaults, what is wrong with one, what may change, and what `kubectl get` shows."""

from typing import Any

import pytest

from apimachinery.names import is_label_value, is_qualified_name
from apis.core import v1
from apis.core.install_full import NODES
from apis.core.strategy.node import NodeStrategy
from tests.apis.validating import decoded, messages

STRATEGY = NodeStrategy()
(NO_NAME, *_) = is_qualified_name("a b")
(NO_VALUE,) = is_label_value("a b")


def node(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any
) -> v1.Node:
    document = {"metadata": {"name": "n1", **meta}, "spec": spec or {}, "status": status or {}}
    return decoded(v1.Node, document)


def errors(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any
) -> list[str]:
    return messages(STRATEGY.validate(node(spec, status, **meta)))


def update_errors(new: v1.Node, old: v1.Node) -> list[str]:
    return messages(STRATEGY.validate_update(new, old))


def row(obj: v1.Node) -> dict[str, Any]:
    return {column.name: column.cell(obj) for column in NODES.columns}


def test_a_minimal_node_has_zero_values_as_kubernetes_writes_them() -> None:
    assert node().model_dump(by_alias=True, mode="json")["status"] == {
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {
            "machineID": "",
            "systemUUID": "",
            "bootID": "",
            "kernelVersion": "",
            "osImage": "",
            "containerRuntimeVersion": "",
            "kubeletVersion": "",
            "kubeProxyVersion": "",
            "operatingSystem": "",
            "architecture": "",
        },
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"podCIDR": "10.0.0.0/24"}, ("10.0.0.0/24", ["10.0.0.0/24"])),
        ({"podCIDRs": ["10.0.0.0/24"]}, ("10.0.0.0/24", ["10.0.0.0/24"])),
        ({"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24"]}, ("10.0.0.0/24", ["10.0.0.0/24"])),
        (
            {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24", "fd00::/64"]},
            ("10.0.0.0/24", ["10.0.0.0/24", "fd00::/64"]),
        ),
        ({}, ("", [])),
    ],
)
def test_the_ranges_of_pods_agree(spec: dict[str, Any], expected: tuple[str, list[str]]) -> None:
    found = node(spec).spec

    assert (found.pod_cidr, found.pod_cidrs) == expected


def test_everything_is_allocatable_unless_said() -> None:
    status = node(status={"capacity": {"cpu": "1500.5m", "pods": "110"}}).status

    assert {name: str(amount) for name, amount in status.allocatable.items()} == {
        "cpu": "1501m",
        "pods": "110",
    }


def test_removed_and_disabled_fields_are_dropped() -> None:
    source = {"configMap": {"namespace": "a", "name": "b", "kubeletConfigKey": "c"}}
    made = node(
        {"configSource": source, "podPreemptionPolicy": {"disableResizePreemption": ["a"]}},
        {"config": {"assigned": source}},
    )

    STRATEGY.prepare_for_create(made)

    assert (made.spec.config_source, made.status.config) == (None, None)
    assert made.spec.pod_preemption_policy is None


NO_EFFECT = (
    'Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
)
REPEATED = (
    'Duplicate value: {"Key":"a","Value":"2","Effect":"NoExecute","TimeAdded":null}: '
    "taints must be unique by key and effect pair"
)
TWO_OF_A_KIND = "may specify no more than one CIDR for each IP family"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]},
            [],
        ),
        (
            {"taints": [{"key": "a b", "value": "a b", "effect": "Odd"}]},
            [
                f'metadata.taints[0].key: Invalid value: "a b": {NO_NAME}',
                f'metadata.taints[0].value: Invalid value: "a b": {NO_VALUE}',
                f"metadata.taints[0].effect: {NO_EFFECT}",
            ],
        ),
        ({"taints": [{"key": "a"}]}, ["metadata.taints[0].effect: Required value"]),
        (
            {
                "taints": [
                    {"key": "a", "effect": "NoExecute"},
                    {"key": "a", "value": "2", "effect": "NoExecute"},
                ]
            },
            [f"metadata.taints[1]: {REPEATED}"],
        ),
        (
            {"podCIDR": "10.0.0.1/24"},
            [
                'spec.podCIDRs[0]: Invalid value: "10.0.0.1/24":'
                " must not have bits set beyond the prefix length"
            ],
        ),
        (
            {"podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]},
            [f'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: {TWO_OF_A_KIND}'],
        ),
        ({"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}, []),
    ],
)
def test_specs(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors(spec) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (
            {"capacity": {"cpu": "-1"}},
            [
                'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
                'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
        (
            {"allocatable": {"pods": "1500m"}},
            ['status.allocatable.pods: Invalid value: "1500m": must be an integer'],
        ),
        (
            {"nodeInfo": {"swap": {"capacity": 0}}},
            ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"],
        ),
        (
            {"declaredFeatures": ["B", "A", "A"]},
            [
                'status.declaredFeatures[1]: Invalid value: "A":'
                " list must be sorted alphabetically",
                'status.declaredFeatures[2]: Duplicate value: "A"',
            ],
        ),
    ],
)
def test_statuses(status: dict[str, Any], expected: list[str]) -> None:
    assert errors(status=status) == expected


def test_a_malformed_feature_is_named() -> None:
    (found,) = errors(status={"declaredFeatures": ["odd-one"]})

    assert found.startswith(
        'status.declaredFeatures[0]: Invalid value: "odd-one": invalid feature name "odd-one":'
        " must start with an UpperCamelCase segment"
    )


def test_old_annotations_are_validated() -> None:
    found = errors(
        annotations={
            "scheduler.alpha.kubernetes.io/taints": '[{"key":"a","effect":"Odd"}]',
            "scheduler.alpha.kubernetes.io/preferAvoidPods": '{"preferAvoidPods":[{}]}',
        }
    )

    assert found == [
        f"metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: {NO_EFFECT}",
        "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature:"
        " Required value",
    ]


FIXED_RANGE = (
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'
)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({"unschedulable": True}, {}, []),
        ({"podCIDR": "10.0.0.0/24"}, {}, []),
        ({"podCIDR": "10.1.0.0/24"}, {"podCIDR": "10.0.0.0/24"}, [FIXED_RANGE]),
        ({}, {"podCIDR": "10.0.0.0/24"}, [FIXED_RANGE]),
        ({"providerID": "aws://1"}, {}, []),
        (
            {"providerID": "aws://2"},
            {"providerID": "aws://1"},
            ["spec.providerID: Invalid value: null: field cannot be modified once set"],
        ),
        (
            {},
            {"providerID": "aws://1"},
            ["spec.providerID: Invalid value: null: field cannot be cleared once set"],
        ),
        ({"externalID": "a"}, {}, ["spec.externalID: Forbidden: may not be updated"]),
        (
            {"configSource": {}},
            {"configSource": {}},
            [
                'spec.configSource: Invalid value: {"ConfigMap":null}:'
                " exactly one reference subfield must be non-nil"
            ],
        ),
        (
            {"configSource": {"configMap": {"uid": "1"}}},
            {"configSource": {}},
            [
                "spec.configSource.configMap.uid: Forbidden: uid must not be set in spec",
                "spec.configSource.configMap.namespace: Required value",
                "spec.configSource.configMap.name: Required value",
                "spec.configSource.configMap.kubeletConfigKey: Required value",
            ],
        ),
    ],
)
def test_what_may_change(new: dict[str, Any], old: dict[str, Any], expected: list[str]) -> None:
    assert update_errors(node(new), node(old)) == expected


def test_addresses_are_unique_after_the_first_update() -> None:
    address = {"type": "InternalIP", "address": "10.0.0.1"}
    changed = node(status={"addresses": [address, address]})

    assert errors(status={"addresses": [address, address]}) == []
    assert messages(STRATEGY.validate_status_update(changed, node())) == [
        'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}'
    ]


def test_warnings() -> None:
    found = node({"externalID": "a", "podCIDR": "FD00::/64"})

    assert list(STRATEGY.warnings(found)) == [
        "spec.externalID: this field is deprecated, and is unused by Kubernetes",
        'spec.podCIDRs[0]: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format'
        ' ("fd00::/64")',
    ]


def test_columns_in_order() -> None:
    assert [(column.name, column.priority) for column in NODES.columns] == [
        ("Name", 0),
        ("Status", 0),
        ("Roles", 0),
        ("Age", 0),
        ("Version", 0),
        ("Internal-IP", 1),
        ("External-IP", 1),
        ("OS-Image", 1),
        ("Kernel-Version", 1),
        ("Container-Runtime", 1),
    ]


def test_a_full_row() -> None:
    ready = {"type": "Ready", "status": "True"}
    found = node(
        {"unschedulable": True},
        {
            "conditions": [{"type": "DiskPressure", "status": "False"}, ready],
            "addresses": [
                {"type": "Hostname", "address": "n1"},
                {"type": "InternalIP", "address": "10.0.0.1"},
                {"type": "InternalIP", "address": "fd00::1"},
                {"type": "ExternalIP", "address": "1.2.3.4"},
            ],
            "nodeInfo": {
                "kubeletVersion": "v1.36.0",
                "osImage": "Debian",
                "kernelVersion": "6.12",
                "architecture": "arm64",
                "containerRuntimeVersion": "containerd://2.1.0",
            },
        },
        labels={
            "node-role.kubernetes.io/worker": "",
            "node-role.kubernetes.io/control-plane": "",
            "kubernetes.io/role": "master",
        },
    )

    cells = row(found)
    del cells["Age"]

    assert cells == {
        "Name": "n1",
        "Status": "Ready,SchedulingDisabled",
        "Roles": "control-plane,master,worker",
        "Version": "v1.36.0",
        "Internal-IP": "10.0.0.1",
        "External-IP": "1.2.3.4",
        "OS-Image": "Debian",
        "Kernel-Version": "6.12 (arm64)",
        "Container-Runtime": "containerd://2.1.0",
    }


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], "Unknown"),
        ([{"type": "Ready", "status": "False"}], "NotReady"),
        ([{"type": "Ready", "status": "Unknown"}], "NotReady"),
    ],
)
def test_a_node_that_is_not_ready(conditions: list[dict[str, Any]], expected: str) -> None:
    cells = row(node(status={"conditions": conditions}))

    assert (cells["Status"], cells["Roles"], cells["OS-Image"]) == (expected, "<none>", "<unknown>")
