"""PersistentVolumes and their claims: defaults, mistakes, what may change, and rows."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apis.core import v1
from apis.core.install_full import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from apis.core.strategy.persistent_volume import PersistentVolumeStrategy
from apis.core.strategy.persistent_volume_claim import PersistentVolumeClaimStrategy
from tests.apis.validating import decoded, messages

NOW = datetime(2030, 1, 1, tzinfo=UTC)
EARLIER = datetime(2029, 1, 1, tzinfo=UTC)
VOLUMES, CLAIMS = PersistentVolumeStrategy(lambda: NOW), PersistentVolumeClaimStrategy()
HOST_PATH = {"hostPath": {"path": "/data"}}
CSI = {"driver": "disks.example.com", "volumeHandle": "d1"}


def volume(spec: dict[str, Any], **meta: Any) -> v1.PersistentVolume:
    whole = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec}
    made = decoded(v1.PersistentVolume, {"metadata": {"name": "v", **meta}, "spec": whole})
    VOLUMES.prepare_for_create(made)
    return made


def claim(spec: dict[str, Any] | None = None, **meta: Any) -> v1.PersistentVolumeClaim:
    whole = {
        "resources": {"requests": {"storage": "1Gi"}},
        "accessModes": ["ReadWriteOnce"],
        **(spec or {}),
    }
    made = decoded(v1.PersistentVolumeClaim, {"metadata": {"name": "c", **meta}, "spec": whole})
    CLAIMS.prepare_for_create(made)
    return made


def bound(spec: dict[str, Any] | None = None) -> v1.PersistentVolumeClaim:
    made = claim(spec)
    made.status.phase = "Bound"
    made.status.capacity = dict(claim().spec.resources.requests)
    return made


def dumped(obj: Any) -> dict[str, Any]:
    document = obj.model_dump(by_alias=True, mode="json")
    assert isinstance(document, dict)
    return document


def test_the_smallest_volume_gets_its_defaults() -> None:
    found = dumped(volume(HOST_PATH))

    assert found["spec"] == {
        "hostPath": {"path": "/data", "type": ""},
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    }
    assert found["status"]["phase"] == "Pending"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("iscsi", {"iscsiInterface": "default"}),
        ("rbd", {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
        ("scaleIO", {"storageMode": "ThinProvisioned", "fsType": "xfs"}),
        ("azureDisk", {"cachingMode": "ReadWrite", "kind": "Shared", "readOnly": False}),
    ],
)
def test_sources_get_their_defaults(source: str, expected: dict[str, Any]) -> None:
    assert dumped(volume({source: {}}))["spec"][source].items() >= expected.items()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (HOST_PATH, []),
        ({"csi": CSI, "volumeAttributesClassName": "fast"}, []),
        ({}, ["spec: Required value: must specify a volume type"]),
        (
            {"hostPath": {"path": "/tmp"}, "nfs": {"server": "a", "path": "/"}},
            ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            {"capacity": {}, "hostPath": {"path": "/tmp"}},
            [
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: null: supported values: "storage"',
            ],
        ),
        (
            {"capacity": {"storage": "-1", "cpu": "1"}, "hostPath": {"path": "/tmp"}},
            [
                'spec.capacity: Unsupported value: {"cpu":"1","storage":"-1"}:'
                ' supported values: "storage"',
                "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
                'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
            ],
        ),
        ({"accessModes": [], "hostPath": {"path": "/tmp"}}, ["spec.accessModes: Required value"]),
        (
            {
                "accessModes": ["Odd", "ReadWriteOncePod", "ReadWriteOnce"],
                "hostPath": {"path": "/tmp"},
            },
            [
                'spec.accessModes: Unsupported value: "Odd": supported values:'
                ' "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
                "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            ],
        ),
        (
            {"persistentVolumeReclaimPolicy": "Odd", "hostPath": {"path": "/tmp"}},
            [
                'spec.persistentVolumeReclaimPolicy: Unsupported value: "Odd":'
                ' supported values: "Delete", "Recycle", "Retain"'
            ],
        ),
        (
            {"persistentVolumeReclaimPolicy": "Recycle", "hostPath": {"path": "//"}},
            [
                "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle'"
                " for a hostPath mount of '/'"
            ],
        ),
        (
            {"local": {"path": "/../x"}},
            [
                "spec.local.path: Invalid value: \"/../x\": must not contain '..'",
                "spec.nodeAffinity: Required value: Local volume requires node affinity",
            ],
        ),
        (
            {"local": {"path": "/x"}, "nodeAffinity": {}},
            ["spec.nodeAffinity.required: Required value: must specify required node constraints"],
        ),
        (
            {"csi": {"driver": "", "controllerPublishSecretRef": {}}},
            [
                "spec.csi.driver: Required value",
                "spec.csi.volumeHandle: Required value",
                "spec.csi.controllerPublishSecretRef.name: Required value",
                "spec.csi.controllerPublishSecretRef.namespace: Required value",
            ],
        ),
        (
            {
                "storageClassName": "A b",
                "volumeMode": "Odd",
                "volumeAttributesClassName": "",
                "hostPath": {"path": "/tmp"},
            },
            [
                'spec.storageClassName: Invalid value: "A b": a lowercase RFC 1123'
                " subdomain must consist of lower case alphanumeric characters, '-' or"
                " '.', and must start and end with an alphanumeric character (e.g."
                " 'example.com', regex used for validation is"
                " '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                'spec.volumeMode: Unsupported value: "Odd": supported values: "Block",'
                ' "Filesystem"',
                "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
                "spec.csi: Required value: has to be specified when using"
                " volumeAttributesClassName",
            ],
        ),
        (
            {
                "iscsi": {
                    "targetPortal": "",
                    "iqn": "odd",
                    "lun": 300,
                    "chapAuthDiscovery": True,
                    "initiatorName": "x",
                }
            },
            [
                "spec.iscsi.targetPortal: Required value",
                'spec.iscsi.iqn: Invalid value: "odd": must be valid format',
                "spec.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive",
                "spec.iscsi.secretRef: Required value",
                'spec.iscsi.initiatorname: Invalid value: "x": must be valid format',
            ],
        ),
        (
            {"rbd": {"monitors": [], "image": ""}},
            ["spec.rbd.monitors: Required value", "spec.rbd.image: Required value"],
        ),
        ({"cephfs": {"monitors": []}}, ["spec.cephfs.monitors: Required value"]),
        (
            {"glusterfs": {"endpoints": "", "path": "", "endpointsNamespace": ""}},
            [
                "spec.glusterfs.endpoints: Required value",
                "spec.glusterfs.path: Required value",
                'spec.glusterfs.endpointsNamespace: Invalid value: "": if the'
                " endpointnamespace is set, it must be a valid namespace name",
            ],
        ),
        (
            {"azureFile": {"secretName": "", "shareName": "", "secretNamespace": ""}},
            [
                "spec.azureFile.secretName: Required value",
                "spec.azureFile.shareName: Required value",
                "spec.azureFile.secretNamespace: Required value",
            ],
        ),
        (
            {"scaleIO": {"gateway": "", "system": ""}},
            [
                "spec.scaleIO.gateway: Required value",
                "spec.scaleIO.system: Required value",
                "spec.scaleIO.volumeName: Required value",
            ],
        ),
        (
            {"storageos": {"secretRef": {}}},
            [
                "spec.storageos.volumeName: Required value",
                "spec.storageos.secretRef.name: Required value",
                "spec.storageos.secretRef.namespace: Required value",
            ],
        ),
        (
            {"cinder": {"volumeID": "", "secretRef": {}}},
            [
                "spec.cinder.volumeID: Required value",
                "spec.cinder.secretRef.name: Required value",
                "spec.cinder.secretRef.namespace: Required value",
            ],
        ),
        (
            {"flexVolume": {"driver": "", "options": {"a.k8s.io/x": "y"}}},
            [
                "spec.flexVolume.driver: Required value",
                'spec.flexVolume.options[a.k8s.io/x]: Invalid value: "a.k8s.io/x":'
                " kubernetes.io and k8s.io namespaces are reserved",
            ],
        ),
        (
            {"fc": {}},
            [
                "spec.fc.targetWWNs: Required value: must specify either targetWWNs or"
                " wwids, but not both"
            ],
        ),
        (
            {"azureDisk": {"diskName": "a", "diskURI": "b"}},
            [
                'spec.azureDisk.diskURI: Unsupported value: "b": supported values:'
                ' "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"'
            ],
        ),
        ({"gcePersistentDisk": {"pdName": ""}}, ["spec.persistentDisk.pdName: Required value"]),
        (
            {"nfs": {"server": "", "path": "x/../y"}},
            [
                "spec.nfs.server: Required value",
                'spec.nfs.path: Invalid value: "x/../y": must be an absolute path',
            ],
        ),
    ],
)
def test_volumes(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(VOLUMES.validate(volume(spec))) == expected


def test_old_mount_options_need_a_source_that_has_some() -> None:
    old = {"volume.beta.kubernetes.io/mount-options": "ro"}

    assert (
        messages(VOLUMES.validate(volume({"nfs": {"server": "a", "path": "/"}}, annotations=old)))
        == []
    )
    assert messages(VOLUMES.validate(volume(HOST_PATH, annotations=old))) == [
        "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden:"
        " may not specify mount options for this volume type"
    ]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({**HOST_PATH, "capacity": {"storage": "2Gi"}}, HOST_PATH, []),
        (
            {**HOST_PATH, "volumeMode": "Block"},
            HOST_PATH,
            ['volumeMode: Invalid value: "Block": field is immutable'],
        ),
        (
            {"csi": {**CSI, "controllerExpandSecretRef": {"name": "a", "namespace": "b"}}},
            {"csi": CSI},
            [],
        ),
        (
            {"csi": CSI},
            {"csi": CSI, "volumeAttributesClassName": "fast"},
            [
                "spec.volumeAttributesClassName: Forbidden:"
                " update from non-nil value to nil is forbidden"
            ],
        ),
    ],
)
def test_what_may_change_of_a_volume(
    new: dict[str, Any], old: dict[str, Any], expected: list[str]
) -> None:
    assert messages(VOLUMES.validate_update(volume(new), volume(old))) == expected


def test_the_source_of_a_volume_cannot_change() -> None:
    (found,) = messages(
        VOLUMES.validate_update(volume({"hostPath": {"path": "/other"}}), volume(HOST_PATH))
    )

    assert found.startswith(
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after"
        " creation\n@@ "
    )
    assert '-  "Path": "/data",\n+  "Path": "/other",\n' in found


def test_the_time_of_the_last_phase_is_kept() -> None:
    old = volume(HOST_PATH)
    old.status.last_phase_transition_time = EARLIER
    same, changed = old.deep_copy(), old.deep_copy()
    same.status.last_phase_transition_time = None
    changed.status.phase = "Available"

    VOLUMES.prepare_for_status_update(same, old)
    VOLUMES.prepare_for_status_update(changed, old)

    assert same.status.last_phase_transition_time == EARLIER
    assert changed.status.last_phase_transition_time == NOW


def test_warnings_about_volumes() -> None:
    found = volume(
        {"persistentVolumeReclaimPolicy": "Recycle", "rbd": {}},
        annotations={"volume.beta.kubernetes.io/storage-class": "a"},
    )

    assert list(VOLUMES.warnings(found)) == [
        "metadata.annotations[volume.beta.kubernetes.io/storage-class]:"
        ' deprecated since v1.8; use "storageClassName" attribute instead',
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated."
        " Instead, the recommended approach is to use dynamic provisioning.",
        "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
    ]


def test_the_smallest_claim_gets_its_defaults() -> None:
    found = dumped(claim())

    assert (found["spec"]["volumeMode"], found["status"]) == ("Filesystem", {"phase": "Pending"})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"volumeAttributesClassName": "fast"}, []),
        (
            {"accessModes": []},
            ["spec.accessModes: Required value: at least 1 access mode is required"],
        ),
        ({"resources": {}}, ["spec.resources[storage]: Required value"]),
        (
            {"resources": {"requests": {"storage": "0"}}},
            ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
        ),
        (
            {"storageClassName": "A b", "volumeMode": "Odd"},
            [
                'spec.storageClassName: Invalid value: "A b": a lowercase RFC 1123'
                " subdomain must consist of lower case alphanumeric characters, '-' or"
                " '.', and must start and end with an alphanumeric character (e.g."
                " 'example.com', regex used for validation is"
                " '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                'spec.volumeMode: Unsupported value: "Odd": supported values: "Block",'
                ' "Filesystem"',
            ],
        ),
        (
            {"dataSourceRef": {"kind": "Odd", "name": ""}},
            [
                "spec.dataSource.name: Required value",
                "spec.dataSource: Invalid value: \"Odd\": must be 'PersistentVolumeClaim'"
                " when referencing the default apiGroup",
                "spec.dataSourceRef.name: Required value",
                'spec.dataSourceRef: Invalid value: "Odd": must be'
                " 'PersistentVolumeClaim' when referencing the default apiGroup",
            ],
        ),
        (
            {
                "dataSource": {"kind": "PersistentVolumeClaim", "name": "x"},
                "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "y"},
            },
            ["spec: Invalid value: {}: must match dataSourceRef"],
        ),
        (
            {"selector": {"matchLabels": {"a b": "c"}}},
            [
                'spec.selector.matchLabels: Invalid value: "a b": name part must'
                " consist of alphanumeric characters, '-', '_' or '.', and must start"
                " and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',"
                "  or '123-abc', regex used for validation is"
                " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ],
        ),
        (
            {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]},
            ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        ),
    ],
)
def test_claims(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(CLAIMS.validate(claim(spec))) == expected


VOLUME_CLAIM = {"kind": "PersistentVolumeClaim", "name": "old"}
LAMP = {"apiGroup": "lamps.example.io", "kind": "Lamp", "name": "a"}


@pytest.mark.parametrize(
    ("spec", "source", "reference"),
    [
        ({"dataSource": VOLUME_CLAIM}, VOLUME_CLAIM, VOLUME_CLAIM),
        ({"dataSourceRef": LAMP}, LAMP, LAMP),
        ({"dataSource": LAMP}, None, None),
        ({"dataSourceRef": {**LAMP, "namespace": "other"}}, None, None),
    ],
)
def test_both_data_sources_agree(
    spec: dict[str, Any], source: dict[str, str] | None, reference: dict[str, str] | None
) -> None:
    found = dumped(claim(spec))["spec"]

    def named(value: dict[str, Any] | None) -> dict[str, str] | None:
        return value and {name: text for name, text in value.items() if text is not None}

    assert (named(found.get("dataSource")), named(found.get("dataSourceRef"))) == (
        source,
        reference,
    )


LARGER = {"resources": {"requests": {"storage": "2Gi"}}}
SMALLER = {"resources": {"requests": {"storage": "1Mi"}}}
FROZEN = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and"
    " volumeAttributesClassName for bound claims\n"
)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (bound(LARGER), bound(), []),
        (bound({"volumeAttributesClassName": "fast"}), bound(), []),
        (claim({"volumeName": "v"}), claim(), []),
        (claim({"storageClassName": "fast"}), claim(), []),
        (
            bound(SMALLER),
            bound(),
            [
                "spec.resources.requests.storage: Forbidden:"
                " field can not be less than status.capacity"
            ],
        ),
        (
            claim({"volumeMode": "Block"}),
            claim(),
            [
                FROZEN
                + '@@ -11,7 +11,7 @@\n  },\n  "VolumeName": "",\n  "StorageClassName": null,\n'
                + '- "VolumeMode": "Filesystem",\n+ "VolumeMode": "Block",\n'
                + '  "DataSource": null,\n  "DataSourceRef": null,\n'
                + '  "VolumeAttributesClassName": null\n',
                'volumeMode: Invalid value: "Block": field is immutable',
            ],
        ),
    ],
)
def test_what_may_change_of_a_claim(
    new: v1.PersistentVolumeClaim, old: v1.PersistentVolumeClaim, expected: list[str]
) -> None:
    assert messages(CLAIMS.validate_update(new, old)) == expected


def test_an_unbound_claim_cannot_grow() -> None:
    (found,) = messages(CLAIMS.validate_update(claim(LARGER), claim()))

    assert found.startswith(FROZEN)


def test_the_status_of_a_claim_is_validated() -> None:
    changed = bound()
    changed.status.allocated_resource_statuses = {"cpu": "NodeResizePending", "storage": "Odd"}

    assert messages(CLAIMS.validate_status_update(changed, bound())) == [
        'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"',
        'status.allocatedResourceStatuses: Unsupported value: "storage": supported values:'
        ' "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",'
        ' "NodeResizeInfeasible", "NodeResizePending"',
    ]


def test_a_part_of_a_byte_is_warned_about() -> None:
    found = claim({"resources": {"requests": {"storage": "1500m"}}})

    assert list(CLAIMS.warnings(found)) == [
        'spec.resources.requests[storage]: fractional byte value "1500m" is invalid,'
        " must be an integer"
    ]


def test_a_row_of_a_volume() -> None:
    found = volume(
        {
            "csi": CSI,
            "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
            "claimRef": {"namespace": "default", "name": "data"},
            "storageClassName": "fast",
        }
    )
    found.status.phase = "Bound"

    assert {column.name: column.cell(found) for column in PERSISTENT_VOLUMES.columns} == {
        "Capacity": "1Gi",
        "Access Modes": "RWO,RWX",
        "Reclaim Policy": "Retain",
        "Status": "Bound",
        "Claim": "default/data",
        "StorageClass": "fast",
        "VolumeAttributesClass": "<unset>",
        "Reason": "",
        "VolumeMode": "Filesystem",
    }


def test_rows_of_claims() -> None:
    waiting, used = claim(), bound({"volumeName": "v", "storageClassName": "fast"})
    used.status.access_modes = ["ReadOnlyMany", "ReadWriteOncePod"]
    used.metadata.deletion_timestamp = NOW

    def row(obj: v1.PersistentVolumeClaim) -> list[Any]:
        return [column.cell(obj) for column in PERSISTENT_VOLUME_CLAIMS.columns]

    assert [column.name for column in PERSISTENT_VOLUME_CLAIMS.columns] == [
        "Status",
        "Volume",
        "Capacity",
        "Access Modes",
        "StorageClass",
        "VolumeAttributesClass",
        "VolumeMode",
    ]
    assert row(waiting) == ["Pending", "", "", "", "", "<unset>", "Filesystem"]
    assert row(used) == ["Terminating", "v", "1Gi", "ROX,RWOP", "fast", "<unset>", "Filesystem"]
