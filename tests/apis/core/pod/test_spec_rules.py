"""Specs of pods: init containers, resources of the pod, names, DNS."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    spec_errors,
)
from tests.apis.core.pod.rules import (
    LABEL,
    LABEL_VALUE,
    NOT_NEGATIVE,
    PORT_RANGE,
    QUALIFIED,
    SIDECARS_ONLY,
    SUBDOMAIN,
    UNDERSCORED,
)

SPECS: list[Case] = [
    ({"containers": []}, ["containers: Required value"]),
    (
        {"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]},
        ['containers[1].name: Duplicate value: "c"'],
    ),
    (
        {"restartPolicy": "Sometimes"},
        [
            (
                'restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
                '"OnFailure", "Never"'
            )
        ],
    ),
    (
        {"dnsPolicy": "Cluster"},
        [
            (
                'dnsPolicy: Unsupported value: "Cluster": supported values: '
                '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
            )
        ],
    ),
    (
        {"nodeSelector": {"a b": "c d"}},
        [
            f'nodeSelector: Invalid value: "a b": {QUALIFIED}',
            f'nodeSelector: Invalid value: "c d": {LABEL_VALUE}',
        ],
    ),
    (
        {"activeDeadlineSeconds": 0},
        [("activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive")],
    ),
    (
        {"activeDeadlineSeconds": 2147483648},
        [
            (
                "activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and "
                "2147483647, inclusive"
            )
        ],
    ),
    ({"terminationGracePeriodSeconds": -5}, []),
    ({"serviceAccountName": "A"}, [f'serviceAccountName: Invalid value: "A": {SUBDOMAIN}']),
    ({"nodeName": "A b"}, [f'nodeName: Invalid value: "A b": {SUBDOMAIN}']),
    ({"priorityClassName": "A"}, [f'priorityClassName: Invalid value: "A": {SUBDOMAIN}']),
    ({"runtimeClassName": ""}, [f'runtimeClassName: Invalid value: "": {SUBDOMAIN}']),
    (
        {"preemptionPolicy": "Always"},
        [
            (
                'preemptionPolicy: Unsupported value: "Always": supported values: '
                '"PreemptLowerPriority", "Never"'
            )
        ],
    ),
    ({"preemptionPolicy": ""}, ["preemptionPolicy: Required value"]),
    (
        {"hostname": "a.b", "subdomain": "A"},
        [
            'hostname: Invalid value: "a.b": must not contain dots',
            f'subdomain: Invalid value: "A": {LABEL}',
        ],
    ),
    (
        {"readinessGates": [{"conditionType": "a b"}]},
        [f'readinessGates[0].conditionType: Invalid value: "a b": {QUALIFIED}'],
    ),
    (
        {"schedulingGates": [{"name": "a b"}, {"name": "x"}, {"name": "x"}]},
        [
            f'schedulingGates[0]: Invalid value: "a b": {QUALIFIED}',
            'schedulingGates[2]: Duplicate value: "x"',
        ],
    ),
    (
        {"schedulingGates": [{"name": "x"}], "nodeName": "n"},
        [("nodeName: Forbidden: cannot be set until all schedulingGates have been cleared")],
    ),
    (
        {"shareProcessNamespace": True, "hostPID": True},
        [
            (
                "shareProcessNamespace: Invalid value: true: ShareProcessNamespace and "
                "HostPID cannot both be enabled"
            )
        ],
    ),
    (
        {"hostUsers": False, "hostNetwork": True, "hostPID": True, "hostIPC": True},
        [
            "hostNetwork: Forbidden: when `hostUsers` is false",
            "HostPID: Forbidden: when `hostUsers` is false",
            "HostIPC: Forbidden: when `hostUsers` is false",
        ],
    ),
    (
        {
            "hostUsers": False,
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}],
            "containers": [
                {"name": "c", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/d"}]}
            ],
        },
        ["containers[0].volumeDevices: Forbidden: when `hostUsers` is false"],
    ),
    (
        {
            "hostNetwork": True,
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "ports": [{"containerPort": 80, "hostPort": 81}, {"containerPort": 82}],
                }
            ],
        },
        [
            (
                "containers[0].ports[0].hostPort: Invalid value: 81: must match "
                "`containerPort` when `hostNetwork` is true"
            )
        ],
    ),
    (
        {"overhead": {"cpu": "-1", "gpu": "1"}},
        [
            f'overhead.limits[cpu]: Invalid value: "-1": {NOT_NEGATIVE}',
            (
                'overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource '
                "type or fully qualified"
            ),
            (
                'overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource for '
                "containers"
            ),
        ],
    ),
    (
        {"ephemeralContainers": [{"name": "debug", "image": "i"}]},
        ["ephemeralContainers: Forbidden: cannot be set on create"],
    ),
    (
        {
            "resourceClaims": [
                {"name": ""},
                {"name": "A", "resourceClaimName": "A", "resourceClaimTemplateName": "B"},
                {"name": "a", "resourceClaimName": "x"},
                {"name": "a", "resourceClaimName": "x"},
            ]
        },
        [
            "resourceClaims[0].name: Required value",
            (
                'resourceClaims[0]: Invalid value: {"Name":"","ResourceClaimName":null,'
                '"ResourceClaimTemplateName":null}: must specify one of: '
                "`resourceClaimName`, `resourceClaimTemplateName`"
            ),
            f'resourceClaims[1].name: Invalid value: "A": {LABEL}',
            (
                'resourceClaims[1]: Invalid value: {"Name":"A","ResourceClaimName":"A",'
                '"ResourceClaimTemplateName":"B"}: at most one of `resourceClaimName` or '
                "`resourceClaimTemplateName` may be specified"
            ),
            f'resourceClaims[1].resourceClaimName: Invalid value: "A": {SUBDOMAIN}',
            f'resourceClaims[1].resourceClaimTemplateName: Invalid value: "B": {SUBDOMAIN}',
            'resourceClaims[3].name: Duplicate value: "a"',
        ],
    ),
    (
        {
            "resourceClaims": [
                {"name": "a", "resourceClaimName": "x"},
                {"name": "b", "resourceClaimTemplateName": "t"},
            ],
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {
                        "claims": [
                            {"name": "a", "request": "r"},
                            {"name": "a", "request": "r"},
                            {"name": "a"},
                            {"name": "a"},
                            {"name": "b", "request": "R"},
                            {"name": "c"},
                        ]
                    },
                }
            ],
        },
        [
            'containers[0].resources.claims[1]: Duplicate value: "a/r"',
            'containers[0].resources.claims[2]: Duplicate value: "a"',
            'containers[0].resources.claims[3]: Duplicate value: "a"',
            f'containers[0].resources.claims[4].request: Invalid value: "R": {LABEL}',
            (
                'containers[0].resources.claims[5]: Not found: "c": must be one of the names '
                "in pod.spec.resourceClaims: a, b"
            ),
        ],
    ),
    (
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]},
        ['volumes[1].name: Duplicate value: "a"'],
    ),
    (
        {
            "volumes": [
                {
                    "name": "e",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                },
                {"name": "c", "persistentVolumeClaim": {"claimName": "p-e"}},
            ]
        },
        [
            (
                'volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-e": must not '
                "reference a PVC that gets created for an ephemeral volume"
            )
        ],
    ),
    (
        {
            "volumes": [{"name": "s", "secret": {"secretName": "x"}}],
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "env": [
                        {
                            "name": "A",
                            "valueFrom": {
                                "fileKeyRef": {"volumeName": "s", "path": "p", "key": "k"}
                            },
                        },
                        {
                            "name": "B",
                            "valueFrom": {
                                "fileKeyRef": {"volumeName": "t", "path": "p", "key": "k"}
                            },
                        },
                    ],
                }
            ],
        },
        [
            (
                'containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "s": '
                "referenced volume must be of type emptyDir"
            ),
            'containers[0].env[1].valueFrom.fileKeyRef.volumeName: Not found: "t"',
        ],
    ),
]

INIT_CONTAINERS: list[Case] = [
    (
        {
            "initContainers": [
                {
                    "name": "init",
                    "image": "i",
                    "restartPolicy": "Always",
                    "livenessProbe": {"tcpSocket": {"port": 0}},
                    "lifecycle": {"preStop": {}},
                }
            ]
        },
        [
            ("initContainers[0].lifecycle.preStop: Required value: must specify a handler type"),
            (f"initContainers[0].livenessProbe.tcpSocket.port: Invalid value: 0: {PORT_RANGE}"),
        ],
    ),
    (
        {"initContainers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]},
        [
            'initContainers[0].name: Duplicate value: "c"',
            'initContainers[1].name: Duplicate value: "c"',
        ],
    ),
    (
        {
            "initContainers": [
                {
                    "name": "init",
                    "image": "i",
                    "livenessProbe": {"tcpSocket": {"port": 1}},
                    "readinessProbe": {"tcpSocket": {"port": 1}},
                    "startupProbe": {"tcpSocket": {"port": 1}},
                    "lifecycle": {"preStop": {"exec": {"command": ["a"]}}},
                }
            ]
        },
        [
            f"initContainers[0].lifecycle: Forbidden: {SIDECARS_ONLY}",
            f"initContainers[0].livenessProbe: Forbidden: {SIDECARS_ONLY}",
            f"initContainers[0].readinessProbe: Forbidden: {SIDECARS_ONLY}",
            f"initContainers[0].startupProbe: Forbidden: {SIDECARS_ONLY}",
        ],
    ),
    (
        {
            "initContainers": [
                {
                    "name": "init",
                    "image": "i",
                    "restartPolicyRules": [
                        {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
                    ],
                }
            ]
        },
        [
            (
                "initContainers[0].restartPolicy: Required value: must specify restartPolicy "
                "when restart rules are used"
            )
        ],
    ),
    (
        {"initContainers": [{"name": "init", "image": "i", "restartPolicy": "Sometimes"}]},
        [
            (
                'initContainers[0].restartPolicy: Unsupported value: "Sometimes": supported '
                'values: "Always", "Never", "OnFailure"'
            )
        ],
    ),
    (
        {
            "initContainers": [
                {
                    "name": "init",
                    "image": "i",
                    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
                }
            ]
        },
        [
            (
                "initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "
                "\"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar "
                "initContainers"
            )
        ],
    ),
    (
        {"initContainers": [{"name": "init", "image": " a "}, {"name": "", "image": ""}]},
        [
            "initContainers[1].name: Required value",
            "initContainers[1].image: Required value",
            (
                'initContainers[0].image: Invalid value: " a ": must not have leading or '
                "trailing whitespace"
            ),
        ],
    ),
    (
        {
            "initContainers": [
                {
                    "name": "init",
                    "image": "i",
                    "ports": [
                        {"containerPort": 80, "hostPort": 80},
                        {"containerPort": 81, "hostPort": 80},
                    ],
                }
            ]
        },
        ['initContainers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
    ),
    (
        {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
                }
            ],
        },
        [
            (
                'containers[0].resizePolicy: Invalid value: "RestartContainer": must be '
                "'NotRequired' when pod `restartPolicy` is 'Never'"
            )
        ],
    ),
]

POD_RESOURCES: list[Case] = [
    (
        {
            "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
                }
            ],
        },
        [
            (
                'resources.containers[0][cpu].limits: Invalid value: "2": must be less than '
                "or equal to pod limits of 1"
            )
        ],
    ),
    (
        {
            "resources": {"requests": {"cpu": "1"}},
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}],
        },
        [
            (
                'resources.requests[cpu]: Invalid value: "1": must be greater than or equal '
                "to aggregate container requests of 2"
            )
        ],
    ),
    (
        {
            "resources": {"requests": {"cpu": "1", "memory": "1"}},
            "initContainers": [
                {
                    "name": "init",
                    "image": "i",
                    "restartPolicy": "Always",
                    "resources": {"requests": {"cpu": "600m"}},
                },
                {"name": "i2", "image": "i", "resources": {"requests": {"cpu": "600m"}}},
            ],
        },
        [
            (
                'resources.requests[cpu]: Invalid value: "1": must be greater than or equal '
                "to aggregate container requests of 1200m"
            )
        ],
    ),
    (
        {
            "resources": {
                "limits": {"ephemeral-storage": "1", "example.com/a": "1"},
                "claims": [{"name": "a"}],
            }
        },
        [
            ("resources.claims: Forbidden: claims may not be set for Resources at pod-level"),
            (
                "resources.limits[ephemeral-storage]: Unsupported value: "
                '"ephemeral-storage": supported values: "cpu", "hugepages-", "memory"'
            ),
            (
                'resources.limits[example.com/a]: Unsupported value: "example.com/a": '
                'supported values: "cpu", "hugepages-", "memory"'
            ),
            (
                'resources.claims[0]: Not found: "a": must be one of the names in pod.spec.'
                "resourceClaims which is empty"
            ),
        ],
    ),
    (
        {
            "resources": {
                "limits": {"cpu": "1", "hugepages-2Mi": "2Mi"},
                "requests": {"cpu": "1", "hugepages-2Mi": "2Mi"},
            },
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}},
                }
            ],
        },
        [
            (
                'resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater '
                "than or equal to aggregate container requests of 4Mi"
            ),
            (
                'resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than '
                "or equal to aggregate container limits of 4Mi"
            ),
            (
                'resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must '
                "be less than or equal to pod limits of 2Mi"
            ),
        ],
    ),
    (
        {"resources": {"limits": {"cpu": "1"}}, "os": {"name": "windows"}},
        ["resources: Forbidden: may not be set for a windows pod"],
    ),
]

NETWORK: list[Case] = [
    (
        {"dnsPolicy": "None"},
        ["dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ),
    (
        {"dnsPolicy": "None", "dnsConfig": {}},
        [
            (
                "dnsConfig.nameservers: Required value: must provide at least one DNS "
                "nameserver when `dnsPolicy` is None"
            )
        ],
    ),
    (
        {
            "dnsConfig": {
                "nameservers": ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4", "x"],
                "searches": [
                    "a_b.",
                    ".",
                    "A",
                    "s0",
                    "s1",
                    "s2",
                    "s3",
                    "s4",
                    "s5",
                    "s6",
                    "s7",
                    "s8",
                    "s9",
                    "s10",
                    "s11",
                    "s12",
                    "s13",
                    "s14",
                    "s15",
                    "s16",
                    "s17",
                    "s18",
                    "s19",
                    "s20",
                    "s21",
                    "s22",
                    "s23",
                    "s24",
                    "s25",
                    "s26",
                    "s27",
                    "s28",
                    "s29",
                ],
                "options": [{"value": "x"}],
            }
        },
        [
            (
                'dnsConfig.nameservers: Invalid value: ["1.2.3.4","01.2.3.4","::ffff:1.2.3.'
                '4","x"]: must not have more than 3 nameservers'
            ),
            ('dnsConfig.nameservers[1]: Invalid value: "01.2.3.4": must not have leading 0s'),
            (
                'dnsConfig.nameservers[2]: Invalid value: "::ffff:1.2.3.4": must not be an '
                "IPv4-mapped IPv6 address"
            ),
            (
                'dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address, '
                "(e.g. 10.9.8.7 or 2001:db8::ffff)"
            ),
            (
                'dnsConfig.searches: Invalid value: ["a_b.",".","A","s0","s1","s2","s3","s4",'
                '"s5","s6","s7","s8","s9","s10","s11","s12","s13","s14","s15","s16","s17",'
                '"s18","s19","s20","s21","s22","s23","s24","s25","s26","s27","s28","s29"]: '
                "must not have more than 32 search paths"
            ),
            f'dnsConfig.searches[2]: Invalid value: "A": {UNDERSCORED}',
            "dnsConfig.options[0]: Required value: must not be empty",
        ],
    ),
    (
        {
            "dnsConfig": {
                "searches": [
                    "a" * 250,
                    "b" * 250,
                    "c" * 250,
                    "d" * 250,
                    "e" * 250,
                    "f" * 250,
                    "g" * 250,
                    "h" * 250,
                    "i" * 250,
                ]
            }
        },
        [
            (
                f'dnsConfig.searches: Invalid value: ["{"a" * 250}","{"b" * 250}","{"c" * 250}'
                f'","{"d" * 250}","{"e" * 250}","{"f" * 250}","{"g" * 250}","{"h" * 250}","'
                f'{"i" * 250}"]: must not have more than 2048 characters (including spaces) '
                "in the search list"
            )
        ],
    ),
    (
        {
            "hostAliases": [
                {"ip": "x", "hostnames": ["A b"]},
                {"ip": "1.2.3.4", "hostnames": ["a.b"]},
                {"hostnames": ["a"]},
            ]
        },
        [
            (
                'hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.'
                "9.8.7 or 2001:db8::ffff)"
            ),
            f'hostAliases[0].hostnames[0]: Invalid value: "A b": {SUBDOMAIN}',
            (
                'hostAliases[2].ip: Invalid value: "": must be a valid IP address, (e.g. 10.'
                "9.8.7 or 2001:db8::ffff)"
            ),
        ],
    ),
    (
        {"hostnameOverride": "A", "setHostnameAsFQDN": True, "hostNetwork": True},
        [
            ("hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true"),
            "hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
            f'hostnameOverride: Invalid value: "A": {SUBDOMAIN}',
        ],
    ),
    ({"hostnameOverride": "a" * 65}, ["hostnameOverride: Too long: may not be more than 64 bytes"]),
    ({"imagePullSecrets": [{}]}, []),
]


@pytest.mark.parametrize(("fields", "expected"), SPECS)
def test_specs(fields: Fields, expected: list[str]) -> None:
    assert spec_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), INIT_CONTAINERS)
def test_init_containers(fields: Fields, expected: list[str]) -> None:
    assert spec_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), POD_RESOURCES)
def test_resources_of_pods(fields: Fields, expected: list[str]) -> None:
    assert spec_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), NETWORK)
def test_names_and_dns(fields: Fields, expected: list[str]) -> None:
    assert spec_errors(fields) == expected
