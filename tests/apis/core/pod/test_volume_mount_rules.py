"""Mounts and block devices of containers."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    container_errors,
)

MOUNTS: list[Case] = [
    ({"volumeMounts": [{"name": "data", "mountPath": "/data"}]}, []),
    (
        {"volumeMounts": [{"name": "", "mountPath": ""}]},
        [
            "volumeMounts[0].name: Required value",
            'volumeMounts[0].name: Not found: ""',
            "volumeMounts[0].mountPath: Required value",
        ],
    ),
    (
        {"volumeMounts": [{"name": "other", "mountPath": "/a"}]},
        ['volumeMounts[0].name: Not found: "other"'],
    ),
    (
        {
            "volumeMounts": [
                {"name": "data", "mountPath": "/data"},
                {"name": "data", "mountPath": "/data"},
            ]
        },
        ['volumeMounts[1].mountPath: Invalid value: "/data": must be unique'],
    ),
    (
        {"volumeMounts": [{"name": "data", "mountPath": "/a", "subPath": "/abs/../x"}]},
        [
            'volumeMounts.subPath: Invalid value: "/abs/../x": must be a relative path',
            "volumeMounts.subPath: Invalid value: \"/abs/../x\": must not contain '..'",
        ],
    ),
    (
        {
            "volumeMounts": [
                {"name": "data", "mountPath": "/a", "subPath": "x", "subPathExpr": "../$(A)"}
            ]
        },
        [
            (
                'volumeMounts[0].subPathExpr: Invalid value: "../$(A)": subPathExpr and '
                "subPath are mutually exclusive"
            ),
            "volumeMounts.subPathExpr: Invalid value: \"../$(A)\": must not contain '..'",
        ],
    ),
    (
        {"volumeMounts": [{"name": "data", "mountPath": "/a", "mountPropagation": "Both"}]},
        [
            (
                'volumeMounts.mountPropagation: Unsupported value: "Both": supported values: '
                '"Bidirectional", "HostToContainer", "None"'
            )
        ],
    ),
    (
        {
            "volumeMounts": [
                {"name": "data", "mountPath": "/a", "mountPropagation": "Bidirectional"}
            ]
        },
        [
            (
                "volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation "
                "is available only to privileged containers"
            )
        ],
    ),
    (
        {
            "volumeMounts": [
                {
                    "name": "data",
                    "mountPath": "/a",
                    "readOnly": True,
                    "recursiveReadOnly": "Enabled",
                }
            ]
        },
        [],
    ),
    (
        {
            "volumeMounts": [
                {
                    "name": "data",
                    "mountPath": "/a",
                    "recursiveReadOnly": "Enabled",
                    "mountPropagation": "HostToContainer",
                }
            ]
        },
        [
            (
                "volumeMounts.recursiveReadOnly: Forbidden: may only be specified when "
                "readOnly is true"
            ),
            (
                "volumeMounts.recursiveReadOnly: Forbidden: may only be specified when "
                "mountPropagation is None or not specified"
            ),
        ],
    ),
    (
        {"volumeMounts": [{"name": "data", "mountPath": "/a", "recursiveReadOnly": "Perhaps"}]},
        [
            (
                'volumeMounts.recursiveReadOnly: Unsupported value: "Perhaps": supported '
                'values: "Disabled", "Enabled", "IfPossible"'
            )
        ],
    ),
    ({"volumeDevices": [{"name": "block", "devicePath": "/dev/a"}]}, []),
    (
        {"volumeDevices": [{"name": "", "devicePath": ""}]},
        [
            "volumeDevices[0].name: Required value",
            'volumeDevices[0].name: Not found: ""',
            "volumeDevices[0].devicePath: Required value",
        ],
    ),
    (
        {"volumeDevices": [{"name": "data", "devicePath": "/dev/../a"}]},
        [
            (
                'volumeDevices[0].name: Invalid value: "data": can only use volume source '
                "type of PersistentVolumeClaim or Ephemeral for block mode"
            ),
            (
                'volumeDevices[0].devicePath: Invalid value: "/dev/../a": can not contain '
                "backsteps ('..')"
            ),
        ],
    ),
    (
        {
            "volumeDevices": [
                {"name": "block", "devicePath": "/dev/a"},
                {"name": "block", "devicePath": "/dev/a"},
            ]
        },
        [
            'volumeDevices[1].name: Invalid value: "block": must be unique',
            'volumeDevices[1].devicePath: Invalid value: "/dev/a": must be unique',
        ],
    ),
    (
        {
            "volumeDevices": [{"name": "block", "devicePath": "/data"}],
            "volumeMounts": [{"name": "block", "mountPath": "/data"}],
        },
        [
            (
                'volumeMounts[0].name: Invalid value: "block": must not already exist in '
                "volumeDevices"
            ),
            (
                'volumeMounts[0].mountPath: Invalid value: "/data": must not already exist '
                "as a path in volumeDevices"
            ),
            (
                'volumeDevices[0].name: Invalid value: "block": must not already exist in '
                "volumeMounts"
            ),
            (
                'volumeDevices[0].devicePath: Invalid value: "/data": must not already exist '
                "as a path in volumeMounts"
            ),
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), MOUNTS)
def test_mounts_and_devices(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected
