"""Volumes of pods, by source."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    volume_errors,
)
from tests.apis.core.pod.rules import (
    FILE_MODE,
    HOST_PORT_PAIRS,
    LABEL,
    LABEL_VALUE,
    ONE_TYPE,
    QUALIFIED,
    SUBDOMAIN,
)

VOLUMES: list[Case] = [
    ({"emptyDir": {}}, []),
    ({}, []),
    ({"name": ""}, ["name: Required value"]),
    ({"name": "A", "emptyDir": {}}, [f'name: Invalid value: "A": {LABEL}']),
    ({"emptyDir": {}, "hostPath": {"path": "/a"}}, [f"hostPath: Forbidden: {ONE_TYPE}"]),
    (
        {"emptyDir": {"sizeLimit": "-1"}},
        [("emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity")],
    ),
    ({"hostPath": {"path": ""}}, ["hostPath.path: Required value"]),
    (
        {"hostPath": {"path": "/a/../b", "type": "Folder"}},
        [
            "hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
            (
                'hostPath.type: Unsupported value: "Folder": supported values: "", '
                '"BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", '
                '"FileOrCreate", "Socket"'
            ),
        ],
    ),
    (
        {"gitRepo": {"repository": "", "directory": "/a"}},
        [
            "gitRepo.repository: Required value",
            'gitRepo.directory: Invalid value: "/a": must be a relative path',
        ],
    ),
    (
        {"gcePersistentDisk": {"pdName": "", "partition": 256}},
        [
            "persistentDisk.pdName: Required value",
            ("persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive"),
        ],
    ),
    (
        {"awsElasticBlockStore": {"volumeID": "", "partition": -1}},
        [
            "awsElasticBlockStore.volumeID: Required value",
            (
                "awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and "
                "255, inclusive"
            ),
        ],
    ),
    (
        {"secret": {"defaultMode": 512}},
        [
            "secret.secretName: Required value",
            f"secret.defaultMode: Invalid value: 512: {FILE_MODE}",
        ],
    ),
    (
        {
            "secret": {
                "secretName": "s",
                "items": [
                    {"key": "", "path": ""},
                    {"key": "k", "path": "/abs", "mode": 512},
                    {"key": "k", "path": "..x"},
                    {"key": "k", "path": "a/../b"},
                ],
            }
        },
        [
            "secret.items[0].key: Required value",
            "secret.items[0].path: Required value",
            'secret.items[1].path: Invalid value: "/abs": must be a relative path',
            f"secret.items[1].mode: Invalid value: 512: {FILE_MODE}",
            "secret.items[2].path: Invalid value: \"..x\": must not start with '..'",
            "secret.items[3].path: Invalid value: \"a/../b\": must not contain '..'",
        ],
    ),
    (
        {"configMap": {"defaultMode": -1, "items": [{"key": "k", "path": "p", "mode": 511}]}},
        [
            "configMap.name: Required value",
            f"configMap.defaultMode: Invalid value: -1: {FILE_MODE}",
        ],
    ),
    (
        {"nfs": {"server": "", "path": ""}},
        [
            "nfs.server: Required value",
            "nfs.path: Required value",
            'nfs.path: Invalid value: "": must be an absolute path',
        ],
    ),
    (
        {"nfs": {"server": "a", "path": "rel"}},
        ['nfs.path: Invalid value: "rel": must be an absolute path'],
    ),
    (
        {"iscsi": {"targetPortal": "", "iqn": "", "lun": 256, "chapAuthSession": True}},
        [
            "iscsi.targetPortal: Required value",
            "iscsi.iqn: Required value",
            "iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            "iscsi.secretRef: Required value",
        ],
    ),
    (
        {"iscsi": {"targetPortal": "1.2.3.4", "iqn": "other", "lun": 0, "initiatorName": "other"}},
        [
            (
                'iscsi.iqn: Invalid value: "other": must be valid format starting with iqn, '
                "eui, or naa"
            ),
            (
                'iscsi.initiatorname: Invalid value: "other": must be valid format starting '
                "with iqn, eui, or naa"
            ),
        ],
    ),
    (
        {
            "iscsi": {
                "targetPortal": "1.2.3.4",
                "iqn": "iqn.2001",
                "lun": 0,
                "initiatorName": "eui.1",
            }
        },
        [
            'iscsi.iqn: Invalid value: "iqn.2001": must be valid format',
            'iscsi.initiatorname: Invalid value: "eui.1": must be valid format',
        ],
    ),
    (
        {
            "iscsi": {
                "targetPortal": "1.2.3.4",
                "iqn": "iqn.2001-04.com.example:storage",
                "lun": 0,
                "initiatorName": "naa.62004567BA64678D0123456789ABCDEF",
            }
        },
        [],
    ),
    (
        {
            "name": "data",
            "iscsi": {
                "targetPortal": "a" * 60,
                "iqn": "eui.0123456789ABCDEF",
                "lun": 0,
                "initiatorName": "iqn.2001-04.com.example:a",
            },
        },
        [
            (
                'name: Invalid value: "data": Total length of <volume name>:<iscsi.'
                "targetPortal> must be under 64 characters if iscsi.initiatorName is "
                "specified."
            )
        ],
    ),
    (
        {"glusterfs": {"endpoints": "", "path": ""}},
        ["glusterfs.endpoints: Required value", "glusterfs.path: Required value"],
    ),
    ({"flocker": {}}, ["flocker: Required value: one of datasetName and datasetUUID is required"]),
    (
        {"flocker": {"datasetName": "a/b", "datasetUUID": "c"}},
        [
            (
                'flocker: Invalid value: "resource": datasetName and datasetUUID can not be '
                "specified simultaneously"
            ),
            "flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
        ],
    ),
    (
        {"persistentVolumeClaim": {"claimName": ""}},
        ["persistentVolumeClaim.claimName: Required value"],
    ),
    (
        {"rbd": {"monitors": [], "image": ""}},
        ["rbd.monitors: Required value", "rbd.image: Required value"],
    ),
    (
        {"cinder": {"volumeID": "", "secretRef": {}}},
        ["cinder.volumeID: Required value", "cinder.secretRef.name: Required value"],
    ),
    ({"cephfs": {"monitors": []}}, ["cephfs.monitors: Required value"]),
    (
        {
            "emptyDir": {},
            "cephfs": {"monitors": ["a"]},
            "downwardAPI": {},
            "gcePersistentDisk": {"pdName": "a"},
        },
        [
            f"gcePersistentDisk: Forbidden: {ONE_TYPE}",
            f"cephFS: Forbidden: {ONE_TYPE}",
            f"downwarAPI: Forbidden: {ONE_TYPE}",
        ],
    ),
    (
        {"quobyte": {"registry": "", "volume": ""}},
        [f"quobyte.registry: Required value: {HOST_PORT_PAIRS}", "quobyte.volume: Required value"],
    ),
    (
        {"quobyte": {"registry": "a:1", "volume": "v", "tenant": "a" * 65}},
        [
            (
                "quobyte.tenant: Required value: must be a UUID and may not exceed a length "
                "of 64 characters"
            )
        ],
    ),
    (
        {"quobyte": {"registry": "a:1,b,[::1]:2,::1:2", "volume": "v"}},
        [f'quobyte.registry: Invalid value: "a:1,b,[::1]:2,::1:2": {HOST_PORT_PAIRS}'],
    ),
    (
        {
            "downwardAPI": {
                "defaultMode": 512,
                "items": [
                    {"path": ""},
                    {"path": "a", "fieldRef": {"fieldPath": "status.podIP"}},
                    {"path": "b", "resourceFieldRef": {"resource": "limits.cpu"}},
                ],
            }
        },
        [
            f"downwardAPI.defaultMode: Invalid value: 512: {FILE_MODE}",
            "downwardAPI.path: Required value",
            ("downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"),
            (
                'downwardAPI.fieldRef.fieldPath: Unsupported value: "status.podIP": '
                'supported values: "metadata.annotations", "metadata.labels", "metadata.'
                'name", "metadata.namespace", "metadata.uid"'
            ),
            "downwardAPI.resourceFieldRef.containerName: Required value",
        ],
    ),
    (
        {
            "downwardAPI": {
                "items": [
                    {
                        "path": "/a",
                        "mode": 512,
                        "fieldRef": {"fieldPath": "metadata.name"},
                        "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"},
                    }
                ]
            }
        },
        [
            'downwardAPI.path: Invalid value: "/a": must be a relative path',
            (
                'downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can '
                "not be specified simultaneously"
            ),
            f"downwardAPI.mode: Invalid value: 512: {FILE_MODE}",
        ],
    ),
    (
        {"fc": {}},
        [("fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both")],
    ),
    (
        {"fc": {"targetWWNs": ["a"], "wwids": ["b"]}},
        [
            (
                'fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be '
                "specified simultaneously"
            ),
            "fc.lun: Required value: lun is required if targetWWNs is specified",
        ],
    ),
    (
        {"fc": {"targetWWNs": ["a"], "lun": 256}},
        ["fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"],
    ),
    ({"flexVolume": {"driver": ""}}, ["flexVolume.driver: Required value"]),
    (
        {"flexVolume": {"driver": "a/b", "options": {"Kubernetes.io/x": "1", "a.b/k8s.io": "3"}}},
        [
            (
                'flexVolume.options[Kubernetes.io/x]: Invalid value: "Kubernetes.io/x": '
                "kubernetes.io and k8s.io namespaces are reserved"
            )
        ],
    ),
    (
        {"azureFile": {"secretName": "", "shareName": ""}},
        ["azureFile.secretName: Required value", "azureFile.shareName: Required value"],
    ),
    (
        {"azureDisk": {"diskName": "", "diskURI": "", "cachingMode": "Some", "kind": "Shared"}},
        [
            "azureDisk.diskName: Required value",
            "azureDisk.diskURI: Required value",
            (
                'azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", '
                '"ReadOnly", "ReadWrite"'
            ),
            (
                'azureDisk.diskURI: Unsupported value: "": supported values: '
                '"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.'
                'vhd"'
            ),
        ],
    ),
    (
        {"azureDisk": {"diskName": "a", "diskURI": "https://x", "kind": "Managed"}},
        [
            (
                'azureDisk.diskURI: Unsupported value: "https://x": supported values: '
                '"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.'
                'compute/disks/{disk-id}"'
            )
        ],
    ),
    (
        {"azureDisk": {"diskName": "a", "diskURI": "https://x", "kind": "Odd"}},
        [
            (
                'azureDisk.kind: Unsupported value: "Odd": supported values: "Dedicated", '
                '"Managed", "Shared"'
            )
        ],
    ),
    ({"vsphereVolume": {"volumePath": ""}}, ["vsphereVolume.volumePath: Required value"]),
    ({"photonPersistentDisk": {"pdID": ""}}, ["photonPersistentDisk.pdID: Required value"]),
    ({"portworxVolume": {"volumeID": ""}}, ["portworxVolume.volumeID: Required value"]),
    (
        {"storageos": {"volumeName": "", "volumeNamespace": "A", "secretRef": {}}},
        [
            "storageos.volumeName: Required value",
            f'storageos.volumeNamespace: Invalid value: "A": {LABEL}',
            "storageos.secretRef.name: Required value",
        ],
    ),
    ({"storageos": {"volumeName": "A"}}, [f'storageos.volumeName: Invalid value: "A": {LABEL}']),
    (
        {"scaleIO": {"gateway": "", "system": "", "volumeName": "", "secretRef": None}},
        [
            "scaleIO.gateway: Required value",
            "scaleIO.system: Required value",
            "scaleIO.volumeName: Required value",
        ],
    ),
    ({"csi": {"driver": ""}}, ["csi.driver: Required value"]),
    (
        {"csi": {"driver": "A b", "nodePublishSecretRef": {"name": ""}}},
        [
            f'csi.driver: Invalid value: "A b": {SUBDOMAIN}',
            "csi.nodePublishSecretRef.name: Required value",
        ],
    ),
    (
        {"csi": {"driver": "a" * 64, "nodePublishSecretRef": {"name": "A"}}},
        [
            "csi.driver: Too long: may not be more than 63 bytes",
            f'csi.name: Invalid value: "A": {SUBDOMAIN}',
        ],
    ),
    ({"ephemeral": {}}, ["ephemeral.volumeClaimTemplate: Required value"]),
    (
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "metadata": {"name": "x", "labels": {"a b": "c d"}, "finalizers": ["f"]},
                    "spec": {},
                }
            }
        },
        [
            (f'ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "a b": {QUALIFIED}'),
            (f'ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "c d": {LABEL_VALUE}'),
            "ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            "ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
            (
                "ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 "
                "access mode is required"
            ),
            "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
        ],
    ),
    (
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                }
            }
        },
        [],
    ),
    (
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOncePod", "ReadWriteMany", "Any"],
                        "selector": {"matchExpressions": [{"key": "a", "operator": "In"}]},
                        "resources": {"requests": {"storage": "0"}},
                        "storageClassName": "A",
                        "volumeMode": "Raw",
                        "volumeAttributesClassName": "B",
                        "dataSource": {"name": "", "kind": ""},
                        "dataSourceRef": {"name": "a", "kind": "VolumeSnapshot", "apiGroup": "A b"},
                    }
                }
            }
        },
        [
            (
                "ephemeral.volumeClaimTemplate.spec.selector.matchExpressions[0].values: "
                "Required value: must be specified when `operator` is 'In' or 'NotIn'"
            ),
            (
                'ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: "Any": '
                'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", '
                '"ReadWriteOncePod"'
            ),
            (
                "ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use "
                "ReadWriteOncePod with other access modes"
            ),
            (
                'ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "0": '
                "must be greater than zero"
            ),
            (
                'ephemeral.volumeClaimTemplate.spec.storageClassName: Invalid value: "A": '
                f"{SUBDOMAIN}"
            ),
            (
                'ephemeral.volumeClaimTemplate.spec.volumeMode: Unsupported value: "Raw": '
                'supported values: "Block", "Filesystem"'
            ),
            "ephemeral.volumeClaimTemplate.spec.dataSource.name: Required value",
            "ephemeral.volumeClaimTemplate.spec.dataSource.kind: Required value",
            (
                'ephemeral.volumeClaimTemplate.spec.dataSource: Invalid value: "": must be '
                "'PersistentVolumeClaim' when referencing the default apiGroup"
            ),
            (
                "ephemeral.volumeClaimTemplate.spec.dataSourceRef.apiGroup: Invalid value: "
                f'"A b": {SUBDOMAIN}'
            ),
            ("ephemeral.volumeClaimTemplate.spec: Invalid value: {}: must match dataSourceRef"),
            (
                "ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName: Invalid "
                f'value: "B": {SUBDOMAIN}'
            ),
        ],
    ),
    (
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                        "dataSource": {"name": "a", "kind": "PersistentVolumeClaim"},
                        "dataSourceRef": {
                            "name": "a",
                            "kind": "PersistentVolumeClaim",
                            "namespace": "B",
                        },
                    }
                }
            }
        },
        [
            (
                "ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace: Invalid value: "
                f'"B": {LABEL}'
            ),
            (
                "ephemeral.volumeClaimTemplate.spec: Invalid value: {}: may not be specified "
                "when dataSourceRef.namespace is specified"
            ),
        ],
    ),
    (
        {
            "name": "a" * 60,
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                }
            },
        },
        [],
    ),
    (
        {"image": {"reference": "", "pullPolicy": "Now"}},
        [
            "image.reference: Required value",
            (
                'image.pullPolicy: Unsupported value: "Now": supported values: "Always", '
                '"IfNotPresent", "Never"'
            ),
        ],
    ),
    ({"image": {"reference": "a"}}, []),
    (
        {"projected": {"defaultMode": 512, "sources": [{}]}},
        [f"projected.defaultMode: Invalid value: 512: {FILE_MODE}"],
    ),
    (
        {
            "projected": {
                "sources": [
                    {
                        "secret": {"name": "", "items": [{"key": "k", "path": "p"}]},
                        "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]},
                    }
                ]
            }
        },
        [
            "projected.sources[0].secret.name: Required value",
            'projected: Invalid value: "c": conflicting duplicate paths',
            f"projected.sources[0]: Forbidden: {ONE_TYPE} per source",
        ],
    ),
    (
        {
            "projected": {
                "sources": [
                    {
                        "downwardAPI": {
                            "items": [
                                {"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}},
                                {"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}},
                            ]
                        }
                    }
                ]
            }
        },
        ['projected: Invalid value: "p": conflicting duplicate paths'],
    ),
    (
        {
            "projected": {
                "sources": [{"serviceAccountToken": {"path": "", "expirationSeconds": 599}}]
            }
        },
        [
            (
                "projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: "
                "599: may not specify a duration less than 10 minutes"
            ),
            "projected.path: Required value",
        ],
    ),
    (
        {
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "/a", "expirationSeconds": 4294967297}}
                ]
            }
        },
        [
            (
                "projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: "
                "4294967297: may not specify a duration larger than 2^32 seconds"
            ),
            'projected.path: Invalid value: "/a": must be a relative path',
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), VOLUMES)
def test_volumes(fields: Fields, expected: list[str]) -> None:
    assert volume_errors(fields) == expected
