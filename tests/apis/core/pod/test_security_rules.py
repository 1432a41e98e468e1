"""Security contexts, operating systems, and what pods share with their host."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    container_errors,
    spec_errors,
)
from tests.apis.core.pod.rules import (
    ID_RANGE,
    NOT_ON_WINDOWS,
    PROFILE_TYPES,
    SUBDOMAIN,
)

SECURITY: list[Case] = [
    (
        {
            "securityContext": {
                "runAsUser": 1000,
                "runAsGroup": 1000,
                "privileged": True,
                "procMount": "Default",
            }
        },
        [],
    ),
    (
        {"securityContext": {"runAsUser": -1, "runAsGroup": 4294967296}},
        [
            f"securityContext.runAsUser: Invalid value: -1: {ID_RANGE}",
            f"securityContext.runAsGroup: Invalid value: 4294967296: {ID_RANGE}",
        ],
    ),
    (
        {"securityContext": {"procMount": "Raw"}},
        [
            (
                'securityContext.procMount: Unsupported value: "Raw": supported values: '
                '"Default", "Unmasked"'
            )
        ],
    ),
    (
        {"securityContext": {"procMount": "Unmasked"}},
        [
            (
                'securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be '
                "false to use `Unmasked`"
            )
        ],
    ),
    (
        {"securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
        [
            (
                'securityContext: Invalid value: {"Capabilities":null,"Privileged":true,'
                '"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,'
                '"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,'
                '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,'
                '"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and '
                "`privileged` to true"
            )
        ],
    ),
    (
        {
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"add": ["CAP_SYS_ADMIN"], "drop": ["ALL"]},
                "seLinuxOptions": {"level": "s0"},
            }
        },
        [
            (
                'securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],'
                '"Drop":["ALL"]},"Privileged":null,"SELinuxOptions":{"User":"","Role":"",'
                '"Type":"","Level":"s0"},"WindowsOptions":null,"RunAsUser":null,'
                '"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,'
                '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,'
                '"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and '
                "`capabilities.Add` CAP_SYS_ADMIN"
            )
        ],
    ),
    (
        {"securityContext": {"seccompProfile": {}}},
        [
            (
                "securityContext.seccompProfile.type: Required value: type is required when "
                "seccompProfile is set"
            )
        ],
    ),
    (
        {"securityContext": {"seccompProfile": {"type": "Custom"}}},
        [(f'securityContext.seccompProfile.type: Unsupported value: "Custom": {PROFILE_TYPES}')],
    ),
    (
        {"securityContext": {"seccompProfile": {"type": "Localhost"}}},
        [
            (
                "securityContext.seccompProfile.localhostProfile: Required value: must be "
                "set when seccomp type is Localhost"
            )
        ],
    ),
    (
        {
            "securityContext": {
                "seccompProfile": {"type": "Localhost", "localhostProfile": "/a/../b"}
            }
        },
        [
            (
                'securityContext.seccompProfile.localhostProfile: Invalid value: "/a/../b": '
                "must be a relative path"
            ),
            (
                'securityContext.seccompProfile.localhostProfile: Invalid value: "/a/../b": '
                "must not contain '..'"
            ),
        ],
    ),
    (
        {"securityContext": {"seccompProfile": {"type": "Unconfined", "localhostProfile": "a"}}},
        [
            (
                "securityContext.seccompProfile.localhostProfile: Invalid value: "
                '{"Type":"Unconfined","LocalhostProfile":"a"}: can only be set when seccomp '
                "type is Localhost"
            )
        ],
    ),
    (
        {"securityContext": {"appArmorProfile": {}}},
        [
            (
                "securityContext.appArmorProfile.type: Required value: type is required when "
                "appArmorProfile is set"
            )
        ],
    ),
    (
        {"securityContext": {"appArmorProfile": {"type": "Custom"}}},
        [(f'securityContext.appArmorProfile.type: Unsupported value: "Custom": {PROFILE_TYPES}')],
    ),
    (
        {"securityContext": {"appArmorProfile": {"type": "Localhost"}}},
        [
            (
                "securityContext.appArmorProfile.localhostProfile: Required value: must be "
                "set when AppArmor type is Localhost"
            )
        ],
    ),
    (
        {"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": ""}}},
        [
            (
                "securityContext.appArmorProfile.localhostProfile: Required value: must be "
                "set when AppArmor type is Localhost"
            )
        ],
    ),
    (
        {"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": " a "}}},
        [
            (
                'securityContext.appArmorProfile.localhostProfile: Invalid value: " a ": '
                "must not be padded with whitespace"
            )
        ],
    ),
    (
        {
            "securityContext": {
                "appArmorProfile": {"type": "Localhost", "localhostProfile": "a" * 4096}
            }
        },
        [
            (
                "securityContext.appArmorProfile.localhostProfile: Too long: may not be more "
                "than 4095 bytes"
            )
        ],
    ),
    (
        {
            "securityContext": {
                "appArmorProfile": {"type": "RuntimeDefault", "localhostProfile": "a"}
            }
        },
        [
            (
                'securityContext.appArmorProfile.localhostProfile: Invalid value: "a": can '
                "only be set when AppArmor type is Localhost"
            )
        ],
    ),
    (
        {
            "securityContext": {
                "windowsOptions": {
                    "gmsaCredentialSpecName": "A",
                    "gmsaCredentialSpec": "",
                    "runAsUserName": "",
                }
            }
        },
        [
            (
                'securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": '
                f"{SUBDOMAIN}"
            ),
            (
                'securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": '
                "gmsaCredentialSpec cannot be an empty string"
            ),
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: "": '
                "runAsUserName cannot be an empty string"
            ),
        ],
    ),
    (
        {"securityContext": {"windowsOptions": {"runAsUserName": "a\tb"}}},
        [
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\tb": '
                "runAsUserName cannot contain control characters"
            )
        ],
    ),
    (
        {"securityContext": {"windowsOptions": {"runAsUserName": "a\\b\\c"}}},
        [
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": '
                "runAsUserName cannot contain more than one backslash"
            )
        ],
    ),
    (
        {"securityContext": {"windowsOptions": {"runAsUserName": ".bad:domain\\"}}},
        [
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: ".'
                "bad:domain\\\\\": runAsUserName's Domain doesn't match the NetBios nor the DNS "
                "format"
            ),
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: ".'
                "bad:domain\\\\\": runAsUserName's User cannot be empty"
            ),
        ],
    ),
    (
        {"securityContext": {"windowsOptions": {"runAsUserName": "EXAMPLE\\. ."}}},
        [
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: "EXAMPLE\\\\. .'
                "\": runAsUserName's User cannot contain only periods or spaces"
            )
        ],
    ),
    (
        {"securityContext": {"windowsOptions": {"runAsUserName": "a@b"}}},
        [
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: "a@b": '
                "runAsUserName's User cannot contain the following characters: \"/\\:;|=,"
                "+*?<>@[]"
            )
        ],
    ),
    ({"securityContext": {"windowsOptions": {"runAsUserName": "example.com\\user"}}}, []),
]

POD_SECURITY: list[Case] = [
    (
        {
            "securityContext": {
                "fsGroup": -1,
                "runAsUser": -1,
                "runAsGroup": -1,
                "supplementalGroups": [-1, 0],
            }
        },
        [
            f"securityContext.fsGroup: Invalid value: -1: {ID_RANGE}",
            f"securityContext.runAsUser: Invalid value: -1: {ID_RANGE}",
            f"securityContext.runAsGroup: Invalid value: -1: {ID_RANGE}",
            f"securityContext.supplementalGroups[0]: Invalid value: -1: {ID_RANGE}",
        ],
    ),
    (
        {
            "securityContext": {
                "fsGroupChangePolicy": "Now",
                "supplementalGroupsPolicy": "Some",
                "seLinuxChangePolicy": "Recursive",
            }
        },
        [
            (
                'securityContext.fsGroupChangePolicy: Unsupported value: "Now": supported '
                'values: "Always", "OnRootMismatch"'
            ),
            (
                'securityContext.supplementalGroupsPolicy: Unsupported value: "Some": '
                'supported values: "Merge", "Strict"'
            ),
        ],
    ),
    (
        {
            "securityContext": {
                "sysctls": [
                    {"name": "", "value": ""},
                    {"name": "A", "value": ""},
                    {"name": "a.b", "value": ""},
                    {"name": "a.b", "value": ""},
                ]
            }
        },
        [
            "securityContext.sysctls[0].name: Required value",
            (
                'securityContext.sysctls[1].name: Invalid value: "A": must have at most 253 '
                "characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\."
                "/])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
            ),
            'securityContext.sysctls[3].name: Duplicate value: "a.b"',
        ],
    ),
    (
        {
            "hostNetwork": True,
            "hostIPC": True,
            "securityContext": {
                "sysctls": [
                    {"name": "net.ipv4.a", "value": ""},
                    {"name": "net/ipv4/b", "value": ""},
                    {"name": "kernel.sem", "value": ""},
                    {"name": "fs.mqueue.a", "value": ""},
                    {"name": "user.a", "value": ""},
                ]
            },
        },
        [
            (
                'securityContext.sysctls[0].name: Invalid value: "net.ipv4.a": may not be '
                "specified when 'hostNetwork' is true"
            ),
            (
                'securityContext.sysctls[1].name: Invalid value: "net/ipv4/b": may not be '
                "specified when 'hostNetwork' is true"
            ),
            (
                'securityContext.sysctls[2].name: Invalid value: "kernel.sem": may not be '
                "specified when 'hostIPC' is true"
            ),
            (
                'securityContext.sysctls[3].name: Invalid value: "fs.mqueue.a": may not be '
                "specified when 'hostIPC' is true"
            ),
        ],
    ),
    (
        {
            "securityContext": {
                "seccompProfile": {"type": ""},
                "appArmorProfile": {"type": "Odd"},
                "windowsOptions": {"runAsUserName": ""},
            }
        },
        [
            (
                "securityContext.seccompProfile.type: Required value: type is required when "
                "seccompProfile is set"
            ),
            (
                'securityContext.windowsOptions.runAsUserName: Invalid value: "": '
                "runAsUserName cannot be an empty string"
            ),
            (f'securityContext.appArmorProfile.type: Unsupported value: "Odd": {PROFILE_TYPES}'),
        ],
    ),
    ({"os": {"name": ""}}, ["os.name: Required value"]),
    (
        {"os": {"name": "darwin"}},
        ['os: Unsupported value: "darwin": supported values: "linux", "windows"'],
    ),
    (
        {
            "os": {"name": "linux"},
            "securityContext": {"windowsOptions": {}},
            "containers": [{"name": "c", "image": "i", "securityContext": {"windowsOptions": {}}}],
        },
        [
            (
                "securityContext.windowsOptions: Forbidden: windows options cannot be set "
                "for a linux pod"
            ),
            (
                "containers[0].securityContext.windowsOptions: Forbidden: windows options "
                "cannot be set for a linux pod"
            ),
        ],
    ),
    (
        {
            "os": {"name": "windows"},
            "hostPID": True,
            "hostIPC": True,
            "hostUsers": True,
            "shareProcessNamespace": False,
            "securityContext": {
                "appArmorProfile": {"type": "Unconfined"},
                "seLinuxOptions": {},
                "seccompProfile": {"type": "Unconfined"},
                "fsGroup": 1,
                "fsGroupChangePolicy": "Always",
                "sysctls": [{"name": "a", "value": ""}],
                "runAsUser": 1,
                "runAsGroup": 1,
                "supplementalGroups": [1],
                "supplementalGroupsPolicy": "Merge",
                "seLinuxChangePolicy": "Recursive",
            },
        },
        [
            f"securityContext.appArmorProfile: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.seLinuxOptions: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.seccompProfile: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.fsGroup: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.fsGroupChangePolicy: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.sysctls: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.runAsUser: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.runAsGroup: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.supplementalGroups: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.supplementalGroupsPolicy: Forbidden: {NOT_ON_WINDOWS}",
            f"securityContext.seLinuxChangePolicy: Forbidden: {NOT_ON_WINDOWS}",
            f"hostUsers: Forbidden: {NOT_ON_WINDOWS}",
            f"hostPID: Forbidden: {NOT_ON_WINDOWS}",
            f"hostIPC: Forbidden: {NOT_ON_WINDOWS}",
            f"shareProcessNamespace: Forbidden: {NOT_ON_WINDOWS}",
        ],
    ),
    (
        {
            "os": {"name": "windows"},
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "securityContext": {
                        "appArmorProfile": {"type": "Unconfined"},
                        "seLinuxOptions": {},
                        "seccompProfile": {"type": "Unconfined"},
                        "capabilities": {},
                        "readOnlyRootFilesystem": True,
                        "privileged": False,
                        "allowPrivilegeEscalation": True,
                        "procMount": "Default",
                        "runAsUser": 1,
                        "runAsGroup": 1,
                    },
                }
            ],
        },
        [
            f"containers[0].securityContext.appArmorProfile: Forbidden: {NOT_ON_WINDOWS}",
            f"containers[0].securityContext.seLinuxOptions: Forbidden: {NOT_ON_WINDOWS}",
            f"containers[0].securityContext.seccompProfile: Forbidden: {NOT_ON_WINDOWS}",
            f"containers[0].securityContext.capabilities: Forbidden: {NOT_ON_WINDOWS}",
            (f"containers[0].securityContext.readOnlyRootFilesystem: Forbidden: {NOT_ON_WINDOWS}"),
            f"containers[0].securityContext.privileged: Forbidden: {NOT_ON_WINDOWS}",
            (
                "containers[0].securityContext.allowPrivilegeEscalation: Forbidden: "
                f"{NOT_ON_WINDOWS}"
            ),
            f"containers[0].securityContext.procMount: Forbidden: {NOT_ON_WINDOWS}",
            f"containers[0].securityContext.runAsUser: Forbidden: {NOT_ON_WINDOWS}",
            f"containers[0].securityContext.runAsGroup: Forbidden: {NOT_ON_WINDOWS}",
        ],
    ),
    (
        {
            "securityContext": {"windowsOptions": {"hostProcess": True}},
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "securityContext": {"windowsOptions": {"hostProcess": False}},
                },
                {"name": "d", "image": "i"},
            ],
        },
        [
            (
                "containers[0].securityContext.windowsOptions.hostProcess: Invalid value: "
                "false: pod hostProcess value must be identical if both are specified, was "
                "true"
            ),
            (
                '^spec: Invalid value: "": If pod contains any hostProcess containers then '
                "all containers must be HostProcess containers"
            ),
            (
                "hostNetwork: Invalid value: false: hostNetwork must be true if pod contains "
                "any hostProcess containers"
            ),
        ],
    ),
    ({"securityContext": {"windowsOptions": {"hostProcess": True}}, "hostNetwork": True}, []),
]


@pytest.mark.parametrize(("fields", "expected"), SECURITY)
def test_security_contexts_of_containers(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), POD_SECURITY)
def test_security_contexts_of_pods(fields: Fields, expected: list[str]) -> None:
    assert spec_errors(fields) == expected
