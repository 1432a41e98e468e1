"""Endpoints: defaults, what is wrong with them, what may change, and what `kubectl get` shows."""

from typing import Any

import pytest

from apimachinery.names import is_dns1123_label, is_qualified_name
from apis.core import v1
from apis.core.install_full import ENDPOINTS
from apis.core.strategy.endpoints import EndpointsStrategy
from tests.apis.validating import decoded, messages

STRATEGY = EndpointsStrategy()
NO_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
ADDRESS = {"ip": "10.0.0.1"}


def endpoints(*subsets: dict[str, Any], **meta: Any) -> v1.Endpoints:
    document = {"metadata": {"name": "web", **meta}, "subsets": list(subsets)}
    return decoded(v1.Endpoints, document)


def errors(*subsets: dict[str, Any]) -> list[str]:
    return messages(STRATEGY.validate(endpoints(*subsets)))


def cell(obj: v1.Endpoints) -> str:
    (column,) = ENDPOINTS.columns
    return str(column.cell(obj))


def test_ports_are_tcp_unless_said() -> None:
    (subset,) = endpoints({"addresses": [ADDRESS], "ports": [{"port": 80}]}).subsets

    assert subset.ports[0].protocol == "TCP"


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ({"addresses": [ADDRESS], "ports": [{"port": 80}]}, []),
        ({"notReadyAddresses": [ADDRESS]}, []),
        (
            {"ports": [{"port": 80}]},
            ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
        ),
        (
            {"addresses": [{"ip": "odd"}]},
            [
                f'subsets[0].addresses[0].ip: Invalid value: "odd": {NO_IP}',
                'subsets[0].addresses[0].ip: Invalid value: "odd": must be a valid IP address',
            ],
        ),
        (
            {"addresses": [{"ip": "010.0.0.1"}]},
            ['subsets[0].addresses[0].ip: Invalid value: "010.0.0.1": must not have leading 0s'],
        ),
        (
            {"notReadyAddresses": [{"ip": "127.0.0.1"}]},
            [
                'subsets[0].notReadyAddresses[0].ip: Invalid value: "127.0.0.1":'
                " may not be in the loopback range (127.0.0.0/8, ::1/128)"
            ],
        ),
        (
            {"addresses": [{"ip": "10.0.0.1", "hostname": "A"}]},
            [
                f'subsets[0].addresses[0].hostname: Invalid value: "A": {error}'
                for error in is_dns1123_label("A")
            ],
        ),
        (
            {"addresses": [ADDRESS], "ports": [{"port": 80}, {"port": 81, "name": "b"}]},
            ["subsets[0].ports[0].name: Required value"],
        ),
        (
            {"addresses": [ADDRESS], "ports": [{"port": 0, "protocol": "ICMP"}]},
            [
                "subsets[0].ports[0].port: Invalid value: 0:"
                " must be between 1 and 65535, inclusive",
                'subsets[0].ports[0].protocol: Unsupported value: "ICMP":'
                ' supported values: "SCTP", "TCP", "UDP"',
            ],
        ),
        (
            {"addresses": [ADDRESS], "ports": [{"port": 80, "appProtocol": "a b"}]},
            [
                f'subsets[0].ports[0].appProtocol: Invalid value: "a b": {error}'
                for error in is_qualified_name("a b")
            ],
        ),
    ],
)
def test_subsets(subset: dict[str, Any], expected: list[str]) -> None:
    assert errors(subset) == expected


def test_unchanged_subsets_are_accepted() -> None:
    old = endpoints({"addresses": [{"ip": "127.0.0.1"}]})
    labelled = endpoints({"addresses": [{"ip": "127.0.0.1"}]}, labels={"a": "b"})
    changed = endpoints({"addresses": [{"ip": "127.0.0.2"}]})

    assert messages(STRATEGY.validate_update(labelled, old)) == []
    assert len(messages(STRATEGY.validate_update(changed, old))) == 1


def test_unusual_addresses_are_warned_about() -> None:
    subset = {"addresses": [{"ip": "FD00::1"}]}
    managed = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}

    assert list(STRATEGY.warnings(endpoints(subset))) == [
        'subsets[0].addresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format'
        ' ("fd00::1")'
    ]
    assert not list(STRATEGY.warnings(endpoints(subset, labels=managed)))


@pytest.mark.parametrize(
    ("subsets", "expected"),
    [
        ([], "<none>"),
        ([{"notReadyAddresses": [ADDRESS]}], ""),
        ([{"addresses": [ADDRESS]}], "10.0.0.1"),
        (
            [{"addresses": [ADDRESS, {"ip": "fd00::1"}], "ports": [{"port": 80}]}],
            "10.0.0.1:80,[fd00::1]:80",
        ),
        (
            [
                {
                    "addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}],
                    "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}],
                }
            ],
            "10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 1 more...",
        ),
    ],
)
def test_rows_show_three_addresses(subsets: list[dict[str, Any]], expected: str) -> None:
    assert cell(endpoints(*subsets)) == expected
