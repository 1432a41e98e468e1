"""The kinds of storage.k8s.io: columns, warnings, and what writes drop or bound."""

from typing import Any

import pytest

from apimachinery.meta.types import Object
from apis.storage.install import STORAGE
from apis.storage.strategy import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
    StorageClassStrategy,
    VolumeAttachmentStrategy,
)
from apis.storage.v1 import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    StorageClass,
    VolumeAttachment,
    VolumeAttributesClass,
)
from tests.apis.validating import decoded, messages

ZONE = "failure-domain.beta.kubernetes.io/zone"
SAID = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'


def row(resource: str, obj: Object) -> dict[str, Any]:
    columns = next(found.columns for found in STORAGE.resources if found.name == resource)
    return {column.name: column.cell(obj) for column in columns if column.name != "Age"}


def attachment(status: dict[str, Any] | None = None) -> VolumeAttachment:
    spec = {
        "attacher": "csi.example.com",
        "nodeName": "node-1",
        "source": {"persistentVolumeName": "data"},
    }
    document = {"metadata": {"name": "a"}, "spec": spec, "status": status or {}}
    return decoded(VolumeAttachment, document)


def driver(**spec: Any) -> CSIDriver:
    return decoded(CSIDriver, {"metadata": {"name": "csi.example.com"}, "spec": spec})


def test_columns_of_a_storage_class() -> None:
    document = {"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}
    made = decoded(StorageClass, document)
    default = decoded(
        StorageClass,
        {
            **document,
            "metadata": {
                "name": "fast",
                "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
            },
            "allowVolumeExpansion": True,
        },
    )

    assert row("storageclasses", made) == {
        "Name": "fast",
        "Provisioner": "csi.example.com",
        "ReclaimPolicy": "Delete",
        "VolumeBindingMode": "Immediate",
        "AllowVolumeExpansion": False,
    }
    assert row("storageclasses", StorageClass())["ReclaimPolicy"] == "Delete"
    assert row("storageclasses", default)["Name"] == "fast (default)"
    assert row("storageclasses", default)["AllowVolumeExpansion"] is True


def test_columns_of_an_attachment() -> None:
    assert row("volumeattachments", attachment({"attached": True})) == {
        "Attacher": "csi.example.com",
        "PV": "data",
        "Node": "node-1",
        "Attached": True,
    }


def test_columns_of_a_driver() -> None:
    tokens = [{"audience": "a"}, {"audience": ""}]
    made = driver(tokenRequests=tokens, volumeLifecycleModes=["Persistent", "Ephemeral"])

    assert row("csidrivers", made) == {
        "AttachRequired": True,
        "PodInfoOnMount": False,
        "StorageCapacity": False,
        "TokenRequests": "a,",
        "RequiresRepublish": False,
        "Modes": "Persistent,Ephemeral",
    }
    assert row("csidrivers", CSIDriver())["TokenRequests"] == "<unset>"
    assert row("csidrivers", CSIDriver())["Modes"] == "<none>"


def test_columns_of_other_kinds() -> None:
    node = decoded(CSINode, {"spec": {"drivers": [{"name": "a", "nodeID": "n"}]}})
    attributes = VolumeAttributesClass(driver_name="csi.example.com")

    assert row("csinodes", node) == {"Drivers": 1}
    assert row("volumeattributesclasses", attributes) == {"DriverName": "csi.example.com"}


def test_deprecated_labels_of_nodes_are_warned_of() -> None:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]
    storage_class = decoded(StorageClass, {"provisioner": "p", "allowedTopologies": terms})
    selector = {
        "matchLabels": {ZONE: "a"},
        "matchExpressions": [{"key": ZONE, "operator": "Exists"}],
    }
    capacity = decoded(CSIStorageCapacity, {"nodeTopology": selector})

    assert list(StorageClassStrategy().warnings(storage_class)) == [
        f"allowedTopologies[0].matchLabelExpressions[0].key: {SAID}"
    ]
    assert list(CSIStorageCapacityStrategy().warnings(capacity)) == [
        f"nodeTopology.matchExpressions[0].key: {ZONE} is {SAID}",
        f"nodeTopology.matchLabels.{ZONE}: {SAID}",
    ]
    assert list(CSIStorageCapacityStrategy().warnings(CSIStorageCapacity())) == []


def test_tokens_in_attributes_are_warned_of() -> None:
    strategy, tokens = CSIDriverStrategy(), [{"audience": "a"}]
    open_tokens = driver(tokenRequests=tokens)

    (warning,) = strategy.warnings(open_tokens)

    assert warning.startswith("spec.serviceAccountTokenInSecrets is unset; if supported by")
    assert list(strategy.warnings(open_tokens, driver())) == [warning]
    assert list(strategy.warnings(open_tokens, open_tokens)) == []
    assert (
        list(strategy.warnings(driver(tokenRequests=tokens, serviceAccountTokenInSecrets=False)))
        == []
    )


def test_fields_that_are_not_enabled_are_dropped() -> None:
    node = decoded(CSINode, {"status": {"storageHealth": [{"name": "a"}]}})

    CSINodeStrategy().prepare_for_status_update(node, CSINode())

    assert node.status.storage_health == []


def test_the_first_change_of_a_driver_is_its_first_generation() -> None:
    strategy, new = CSIDriverStrategy(), driver(podInfoOnMount=True)

    strategy.prepare_for_update(new, driver())

    assert strategy.desired_state(new) is None
    assert new.metadata.generation == 1


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (
            {"attachmentMetadata": {"a": "x" * 300_000}},
            ["status.attachmentMetadata: Too long: may not be more than 262144 bytes"],
        ),
        (
            {"detachError": {"message": "x" * 1025, "errorCode": -1}},
            [
                "status.detachError.message: Too long: may not be more than 1024 bytes",
                "status.detachError.errorCode: Invalid value: -1: must be between 0 and"
                " 2147483647, inclusive",
            ],
        ),
    ],
)
def test_mistakes_in_the_status_of_an_attachment(
    status: dict[str, Any], expected: list[str]
) -> None:
    found = VolumeAttachmentStrategy().validate_status_update(attachment(status), attachment())

    assert messages(found) == expected


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [({str(number): "" for number in range(513)}, 512), ({"a": "x" * 262_144}, 262144)],
)
def test_parameters_are_bounded(parameters: dict[str, str], limit: int) -> None:
    made = decoded(StorageClass, {"provisioner": "p", "parameters": parameters})

    assert messages(StorageClassStrategy().validate(made)) == [
        f"parameters: Too long: may not be more than {limit} bytes"
    ]
