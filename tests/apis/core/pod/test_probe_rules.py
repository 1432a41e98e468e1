"""Containers: probes and lifecycle hooks."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    container_errors,
)
from tests.apis.core.pod.rules import (
    HTTP_HEADER,
    NOT_NEGATIVE,
    ONE_HANDLER,
    PORT_RANGE,
)

PROBES: list[Case] = [
    (
        {
            "livenessProbe": {"httpGet": {"port": 80}},
            "readinessProbe": {"grpc": {"port": 1}},
            "startupProbe": {"exec": {"command": ["true"]}},
        },
        [],
    ),
    ({"livenessProbe": {}}, ["livenessProbe: Required value: must specify a handler type"]),
    ({"livenessProbe": {"exec": {}}}, ["livenessProbe.exec.command: Required value"]),
    (
        {
            "livenessProbe": {
                "exec": {"command": ["a"]},
                "httpGet": {"port": 80},
                "tcpSocket": {"port": 80},
                "grpc": {"port": 80},
            }
        },
        [
            f"livenessProbe.httpGet: Forbidden: {ONE_HANDLER}",
            f"livenessProbe.tcpSocket: Forbidden: {ONE_HANDLER}",
            f"livenessProbe.grpc: Forbidden: {ONE_HANDLER}",
        ],
    ),
    (
        {
            "livenessProbe": {
                "httpGet": {
                    "port": 0,
                    "scheme": "FTP",
                    "httpHeaders": [{"name": "a b", "value": ""}],
                }
            }
        },
        [
            f"livenessProbe.httpGet.port: Invalid value: 0: {PORT_RANGE}",
            (
                'livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: '
                '"HTTP", "HTTPS"'
            ),
            f'livenessProbe.httpGet.httpHeaders: Invalid value: "a b": {HTTP_HEADER}',
        ],
    ),
    (
        {"readinessProbe": {"tcpSocket": {"port": "Not-a-port-name!"}}},
        [
            (
                'readinessProbe.tcpSocket.port: Invalid value: "Not-a-port-name!": must be '
                "no more than 15 characters"
            ),
            (
                'readinessProbe.tcpSocket.port: Invalid value: "Not-a-port-name!": must '
                "contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
            ),
        ],
    ),
    (
        {"readinessProbe": {"grpc": {"port": 0}}},
        [f"readinessProbe.grpc.port: Invalid value: 0: {PORT_RANGE}"],
    ),
    (
        {"livenessProbe": {"tcpSocket": {"port": 80}, "successThreshold": 2}},
        ["livenessProbe.successThreshold: Invalid value: 2: must be 1"],
    ),
    (
        {"startupProbe": {"tcpSocket": {"port": 80}, "successThreshold": 3}},
        ["startupProbe.successThreshold: Invalid value: 3: must be 1"],
    ),
    (
        {"readinessProbe": {"tcpSocket": {"port": 80}, "terminationGracePeriodSeconds": 5}},
        [
            (
                "readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be "
                "set for readinessProbes"
            )
        ],
    ),
    (
        {"livenessProbe": {"tcpSocket": {"port": 80}, "terminationGracePeriodSeconds": 0}},
        [("livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0")],
    ),
    (
        {
            "readinessProbe": {
                "tcpSocket": {"port": 80},
                "initialDelaySeconds": -1,
                "timeoutSeconds": -1,
                "periodSeconds": -1,
                "successThreshold": -1,
                "failureThreshold": -1,
            }
        },
        [
            f"readinessProbe.initialDelaySeconds: Invalid value: -1: {NOT_NEGATIVE}",
            f"readinessProbe.timeoutSeconds: Invalid value: -1: {NOT_NEGATIVE}",
            f"readinessProbe.periodSeconds: Invalid value: -1: {NOT_NEGATIVE}",
            f"readinessProbe.successThreshold: Invalid value: -1: {NOT_NEGATIVE}",
            f"readinessProbe.failureThreshold: Invalid value: -1: {NOT_NEGATIVE}",
        ],
    ),
]

LIFECYCLE: list[Case] = [
    (
        {
            "lifecycle": {
                "preStop": {"sleep": {"seconds": 5}},
                "postStart": {"exec": {"command": ["a"]}},
            }
        },
        [],
    ),
    (
        {"lifecycle": {"preStop": {}}},
        ["lifecycle.preStop: Required value: must specify a handler type"],
    ),
    (
        {"lifecycle": {"postStart": {"sleep": {"seconds": 31}}}},
        [
            (
                "lifecycle.postStart.sleep: Invalid value: 31: must be non-negative and less "
                "than terminationGracePeriodSeconds (30)"
            )
        ],
    ),
    (
        {"lifecycle": {"preStop": {"sleep": {"seconds": -1}}}},
        [
            (
                "lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and less "
                "than terminationGracePeriodSeconds (30)"
            )
        ],
    ),
    (
        {"lifecycle": {"preStop": {"exec": {"command": ["a"]}, "sleep": {"seconds": 1}}}},
        [f"lifecycle.preStop.sleep: Forbidden: {ONE_HANDLER}"],
    ),
    (
        {
            "lifecycle": {
                "preStop": {"httpGet": {"path": "x"}},
                "postStart": {"tcpSocket": {"port": 70000}},
            }
        },
        [
            f"lifecycle.postStart.tcpSocket.port: Invalid value: 70000: {PORT_RANGE}",
            f"lifecycle.preStop.httpGet.port: Invalid value: 0: {PORT_RANGE}",
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), PROBES)
def test_probes(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), LIFECYCLE)
def test_lifecycle_hooks(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected
