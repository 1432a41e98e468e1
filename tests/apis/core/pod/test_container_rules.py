"""Containers: names, images, ports, environment, restarts, resources."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    container_errors,
)
from tests.apis.core.pod.rules import (
    BYTE_DIVISORS,
    CONFIG_KEY,
    ENV_NAME,
    LABEL,
    NOT_NEGATIVE,
    PORT_RANGE,
    QUALIFIED,
    SUBDOMAIN,
)

BASICS: list[Case] = [
    ({"name": ""}, ["name: Required value"]),
    ({"name": "A_b"}, [f'name: Invalid value: "A_b": {LABEL}']),
    ({"image": ""}, ["image: Required value"]),
    (
        {"image": " nginx"},
        ['image: Invalid value: " nginx": must not have leading or trailing whitespace'],
    ),
    (
        {"imagePullPolicy": "Sometimes"},
        [
            (
                'imagePullPolicy: Unsupported value: "Sometimes": supported values: '
                '"Always", "IfNotPresent", "Never"'
            )
        ],
    ),
    (
        {"terminationMessagePolicy": "Console"},
        [
            (
                'terminationMessagePolicy: Unsupported value: "Console": supported values: '
                '"File", "FallbackToLogsOnError"'
            )
        ],
    ),
    (
        {
            "restartPolicy": "Never",
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
            ],
        },
        [],
    ),
    (
        {"restartPolicy": "Sometimes"},
        [
            (
                'restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
                '"Never", "OnFailure"'
            )
        ],
    ),
    (
        {
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
            ]
        },
        [("restartPolicy: Required value: must specify restartPolicy when restart rules are used")],
    ),
    (
        {
            "restartPolicy": "Never",
            "restartPolicyRules": [
                {"action": "Stop", "exitCodes": {"operator": "Is", "values": [42]}},
                {"action": "Restart"},
            ],
        },
        [
            (
                'restartPolicyRules[0].action: Unsupported value: "Stop": supported values: '
                '"Restart", "RestartAllContainers"'
            ),
            (
                'restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": '
                'supported values: "In", "NotIn"'
            ),
            "restartPolicyRules[1].exitCodes: Required value: must be specified",
        ],
    ),
    (
        {
            "restartPolicy": "Never",
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
            ]
            * 21,
        },
        ["restartPolicyRules: Too many: 21: must have at most 20 items"],
    ),
    (
        {
            "restartPolicy": "Never",
            "restartPolicyRules": [
                {
                    "action": "RestartAllContainers",
                    "exitCodes": {"operator": "NotIn", "values": list(range(256))},
                }
            ],
        },
        [("restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items")],
    ),
]

PORTS: list[Case] = [
    ({"ports": [{"containerPort": 80}, {"containerPort": 443, "name": "tls"}]}, []),
    ({"ports": [{}]}, ["ports[0].containerPort: Required value"]),
    (
        {"ports": [{"containerPort": 65536, "hostPort": -1, "protocol": "ICMP"}]},
        [
            f"ports[0].containerPort: Invalid value: 65536: {PORT_RANGE}",
            f"ports[0].hostPort: Invalid value: -1: {PORT_RANGE}",
            (
                'ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", '
                '"TCP", "UDP"'
            ),
        ],
    ),
    (
        {"ports": [{"containerPort": -1, "hostPort": 70000}]},
        [
            f"ports[0].containerPort: Invalid value: -1: {PORT_RANGE}",
            f"ports[0].hostPort: Invalid value: 70000: {PORT_RANGE}",
        ],
    ),
    (
        {
            "ports": [
                {"containerPort": 80, "name": "a-very-long-port-name"},
                {"containerPort": 81, "name": "Upper"},
                {"containerPort": 82, "name": "80"},
                {"containerPort": 83, "name": "-a--b-"},
            ]
        },
        [
            (
                'ports[0].name: Invalid value: "a-very-long-port-name": must be no more than '
                "15 characters"
            ),
            (
                'ports[1].name: Invalid value: "Upper": must contain only alpha-numeric '
                "characters (a-z, 0-9), and hyphens (-)"
            ),
            'ports[2].name: Invalid value: "80": must contain at least one letter (a-z)',
            'ports[3].name: Invalid value: "-a--b-": must not contain consecutive hyphens',
            'ports[3].name: Invalid value: "-a--b-": must not begin or end with a hyphen',
        ],
    ),
    (
        {"ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 81, "name": "web"}]},
        ['ports[1].name: Duplicate value: "web"'],
    ),
    (
        {
            "ports": [
                {"containerPort": 80, "hostPort": 8080},
                {"containerPort": 81, "hostPort": 8080},
                {"containerPort": 82, "hostPort": 8080, "hostIP": "127.0.0.1"},
                {"containerPort": 83, "hostPort": 8080, "protocol": "UDP"},
            ]
        },
        ['ports[1].hostPort: Duplicate value: "TCP//8080"'],
    ),
]

ENV: list[Case] = [
    (
        {
            "env": [
                {"name": "any name", "value": "x"},
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            ]
        },
        [],
    ),
    (
        {"env": [{"name": ""}, {"name": "a=b"}, {"name": "ü"}]},
        [
            "env[0].name: Required value",
            f'env[1].name: Invalid value: "a=b": {ENV_NAME}',
            f'env[2].name: Invalid value: "ü": {ENV_NAME}',
        ],
    ),
    (
        {"env": [{"name": "A", "valueFrom": {}}]},
        [
            (
                'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, '
                "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
            )
        ],
    ),
    (
        {
            "env": [
                {
                    "name": "A",
                    "value": "x",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                }
            ]
        },
        [('env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty')],
    ),
    (
        {
            "env": [
                {
                    "name": "A",
                    "valueFrom": {
                        "fieldRef": {"fieldPath": "metadata.name"},
                        "resourceFieldRef": {"resource": "limits.cpu"},
                    },
                }
            ]
        },
        [
            (
                'env[0].valueFrom: Invalid value: "": may not have more than one field '
                "specified at a time"
            )
        ],
    ),
    (
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": ""}}}]},
        ["env[0].valueFrom.fieldRef.fieldPath: Required value"],
    ),
    (
        {
            "env": [
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.whatever"}}},
                {
                    "name": "B",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v2"}},
                },
            ]
        },
        [
            (
                'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.whatever": '
                "error converting fieldPath: field label not supported: metadata.whatever"
            ),
            (
                'env[1].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error '
                "converting fieldPath: unsupported pod version: v2"
            ),
        ],
    ),
    (
        {
            "env": [
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.phase"}}},
            ]
        },
        [
            (
                'env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": '
                'supported values: "metadata.name", "metadata.namespace", "metadata.uid", '
                '"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.'
                'hostIPs", "status.podIP", "status.podIPs"'
            ),
            (
                'env[1].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": '
                'supported values: "metadata.name", "metadata.namespace", "metadata.uid", '
                '"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.'
                'hostIPs", "status.podIP", "status.podIPs"'
            ),
        ],
    ),
    (
        {
            "env": [
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
                {
                    "name": "B",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['My.Key/App']"}},
                },
                {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "spec.host"}}},
            ]
        },
        [],
    ),
    (
        {
            "env": [
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a b']"}}},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name['x']"}}},
                {
                    "name": "C",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['-B']"}},
                },
            ]
        },
        [
            f'env[0].valueFrom.fieldRef: Invalid value: "a b": {QUALIFIED}',
            (
                "env[1].valueFrom.fieldRef.fieldPath: Invalid value: \"metadata.name['x']\": "
                "error converting fieldPath: field label does not support subscript: "
                "metadata.name['x']"
            ),
            f'env[2].valueFrom.fieldRef: Invalid value: "-b": {QUALIFIED}',
        ],
    ),
    (
        {
            "env": [
                {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": ""}}},
                {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}},
                {
                    "name": "C",
                    "valueFrom": {"resourceFieldRef": {"resource": "requests.hugepages-2Mi"}},
                },
            ]
        },
        [
            "env[0].valueFrom.resourceFieldRef.resource: Required value",
            (
                'env[1].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.'
                'gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.'
                'memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"'
            ),
        ],
    ),
    (
        {
            "env": [
                {
                    "name": "A",
                    "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2m"}},
                },
                {
                    "name": "B",
                    "valueFrom": {
                        "resourceFieldRef": {"resource": "limits.memory", "divisor": "3Mi"}
                    },
                },
                {
                    "name": "C",
                    "valueFrom": {
                        "resourceFieldRef": {
                            "resource": "requests.ephemeral-storage",
                            "divisor": "1m",
                        }
                    },
                },
                {
                    "name": "D",
                    "valueFrom": {
                        "resourceFieldRef": {"resource": "limits.hugepages-2Mi", "divisor": "2"}
                    },
                },
            ]
        },
        [
            (
                'env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": '
                "only divisor's values 1m and 1 are supported with the cpu resource"
            ),
            (
                'env[1].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.memory": '
                f"{BYTE_DIVISORS} memory resource"
            ),
            (
                'env[2].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.'
                f'ephemeral-storage": {BYTE_DIVISORS} local ephemeral storage resource'
            ),
            (
                'env[3].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.'
                f'hugepages-2Mi": {BYTE_DIVISORS} hugepages resource'
            ),
        ],
    ),
    (
        {
            "env": [
                {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "", "key": ""}}},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "A B", "key": "a/b"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": ".."}}},
            ]
        },
        [
            f'env[0].valueFrom.configMapKeyRef.name: Invalid value: "": {SUBDOMAIN}',
            "env[0].valueFrom.configMapKeyRef.key: Required value",
            f'env[1].valueFrom.secretKeyRef.name: Invalid value: "A B": {SUBDOMAIN}',
            f'env[1].valueFrom.secretKeyRef.key: Invalid value: "a/b": {CONFIG_KEY}',
            "env[2].valueFrom.secretKeyRef.key: Invalid value: \"..\": must not be '..'",
        ],
    ),
    (
        {
            "env": [
                {
                    "name": "A",
                    "valueFrom": {"fileKeyRef": {"key": "", "volumeName": "", "path": ""}},
                },
                {
                    "name": "B",
                    "valueFrom": {"fileKeyRef": {"key": "a=", "volumeName": "A", "path": "a/../b"}},
                },
            ]
        },
        [
            "env[0].valueFrom.fileKeyRef.key: Required value",
            "env[0].valueFrom.fileKeyRef.volumeName: Required value",
            "env[0].valueFrom.fileKeyRef.path: Required value",
            f'env[1].valueFrom.fileKeyRef.key: Invalid value: "a=": {ENV_NAME}',
            f'env[1].valueFrom.fileKeyRef.volumeName: Invalid value: "A": {LABEL}',
            ("env[1].valueFrom.fileKeyRef.path: Invalid value: \"a/../b\": must not contain '..'"),
            'env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
            'env[1].valueFrom.fileKeyRef.volumeName: Not found: "A"',
        ],
    ),
    (
        {
            "envFrom": [
                {"prefix": "any ", "configMapRef": {"name": "c"}},
                {"secretRef": {"name": "s"}},
            ]
        },
        [],
    ),
    (
        {"envFrom": [{}]},
        [('envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`')],
    ),
    (
        {"envFrom": [{"prefix": "a=", "configMapRef": {"name": ""}, "secretRef": {"name": "A"}}]},
        [
            f'envFrom[0].prefix: Invalid value: "a=": {ENV_NAME}',
            "envFrom[0].configMapRef.name: Required value",
            f'envFrom[0].secretRef.name: Invalid value: "A": {SUBDOMAIN}',
            ('envFrom: Invalid value: "": may not have more than one field specified at a time'),
        ],
    ),
]

RESOURCES: list[Case] = [
    (
        {
            "resources": {
                "limits": {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"},
                "requests": {"cpu": "500m"},
            }
        },
        [],
    ),
    (
        {"resources": {"limits": {"cpu": "-1"}}},
        [
            f'resources.limits[cpu]: Invalid value: "-1": {NOT_NEGATIVE}',
            f'resources.requests[cpu]: Invalid value: "-1": {NOT_NEGATIVE}',
        ],
    ),
    (
        {"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}},
        [('resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1')],
    ),
    (
        {"resources": {"requests": {"gpu": "1"}}},
        [
            (
                'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource '
                "type or fully qualified"
            ),
            (
                'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource '
                "for containers"
            ),
        ],
    ),
    (
        {"resources": {"limits": {"pods": "1"}}},
        [
            (
                'resources.limits[pods]: Invalid value: "pods": must be a standard resource '
                "for containers"
            ),
            (
                'resources.requests[pods]: Invalid value: "pods": must be a standard '
                "resource for containers"
            ),
        ],
    ),
    (
        {"resources": {"limits": {"a b": "1"}}},
        [
            f'resources.limits[a b]: Invalid value: "a b": {QUALIFIED}',
            (
                'resources.limits[a b]: Invalid value: "a b": must be a standard resource '
                "for containers"
            ),
            f'resources.requests[a b]: Invalid value: "a b": {QUALIFIED}',
            (
                'resources.requests[a b]: Invalid value: "a b": must be a standard resource '
                "for containers"
            ),
        ],
    ),
    (
        {"resources": {"limits": {"example.com/": "1"}}},
        [
            (
                'resources.limits[example.com/]: Invalid value: "example.com/": name part '
                "must be non-empty"
            ),
            f'resources.limits[example.com/]: Invalid value: "example.com/": {QUALIFIED}',
            (
                'resources.limits[example.com/]: Invalid value: "example.com/": doesn\'t '
                "follow extended resource name standard"
            ),
            (
                'resources.requests[example.com/]: Invalid value: "example.com/": name part '
                "must be non-empty"
            ),
            f'resources.requests[example.com/]: Invalid value: "example.com/": {QUALIFIED}',
            (
                'resources.requests[example.com/]: Invalid value: "example.com/": doesn\'t '
                "follow extended resource name standard"
            ),
        ],
    ),
    (
        {"resources": {"limits": {"example.com/gpu": "500m"}}},
        [
            'resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
            ('resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer'),
        ],
    ),
    (
        {"resources": {"limits": {"example.com/gpu": "2"}, "requests": {"example.com/gpu": "1"}}},
        [('resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2')],
    ),
    (
        {"resources": {"requests": {"example.com/gpu": "1"}}},
        [("resources.limits: Required value: Limit must be set for non overcommitable resources")],
    ),
    (
        {"resources": {"limits": {"requests.example.com/gpu": "1"}}},
        [
            (
                'resources.limits[requests.example.com/gpu]: Invalid value: "requests.'
                "example.com/gpu\": doesn't follow extended resource name standard"
            ),
            (
                'resources.requests[requests.example.com/gpu]: Invalid value: "requests.'
                "example.com/gpu\": doesn't follow extended resource name standard"
            ),
        ],
    ),
    ({"resources": {"limits": {"kubernetes.io/storage": "1"}}}, []),
    (
        {"resources": {"limits": {"hugepages-2Mi": "4Mi"}}},
        ["resources: Forbidden: HugePages require cpu or memory"],
    ),
    (
        {"resources": {"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}},
        [
            (
                'resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive '
                "integer multiple of hugepages-2Mi"
            ),
            (
                'resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not '
                "positive integer multiple of hugepages-2Mi"
            ),
        ],
    ),
    (
        {
            "resources": {
                "limits": {"hugepages-2Mi": "4Mi", "cpu": "1"},
                "requests": {"hugepages-2Mi": "2Mi"},
            }
        },
        [('resources.requests: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 4Mi')],
    ),
    (
        {"resources": {"claims": [{"name": "a"}]}},
        [
            (
                'resources.claims[0]: Not found: "a": must be one of the names in pod.spec.'
                "resourceClaims which is empty"
            )
        ],
    ),
    ({"resources": {"claims": [{"name": ""}]}}, ["resources.claims[0]: Required value"]),
    (
        {
            "resizePolicy": [
                {"resourceName": "cpu", "restartPolicy": "NotRequired"},
                {"resourceName": "memory", "restartPolicy": "RestartContainer"},
            ]
        },
        [],
    ),
    (
        {
            "resizePolicy": [
                {"resourceName": "cpu", "restartPolicy": "NotRequired"},
                {"resourceName": "cpu", "restartPolicy": "NotRequired"},
            ]
        },
        ['resizePolicy[1]: Duplicate value: "cpu"'],
    ),
    (
        {"resizePolicy": [{"resourceName": "storage", "restartPolicy": "Maybe"}]},
        [
            ('resizePolicy: Unsupported value: "storage": supported values: "cpu", "memory"'),
            (
                'resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", '
                '"RestartContainer"'
            ),
        ],
    ),
    (
        {"resizePolicy": [{"resourceName": "", "restartPolicy": ""}]},
        ["resizePolicy: Required value"],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), BASICS)
def test_names_images_and_restart_policies(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), PORTS)
def test_ports(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), ENV)
def test_environment_variables(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), RESOURCES)
def test_resources_and_resize_policies(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected
