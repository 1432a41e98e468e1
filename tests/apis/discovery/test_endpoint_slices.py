"""EndpointSlices: defaults, what is prepared, columns and warnings."""

from typing import Any

import orjson
import pytest

from apimachinery.codec import Codec
from apis.discovery.printers import ENDPOINT_SLICE_COLUMNS
from apis.discovery.register import V1
from apis.discovery.strategy import EndpointSliceStrategy
from apis.discovery.v1 import EndpointSlice
from tests.apis.groups import full_scheme
from tests.apis.validating import decoded, messages

STRATEGY = EndpointSliceStrategy()


def read(address_type: str = "IPv4", **document: Any) -> EndpointSlice:
    meta = {"name": "web-1", "labels": document.pop("labels", {})}
    return decoded(EndpointSlice, {"metadata": meta, "addressType": address_type, **document})


def endpoints(*addresses: str) -> list[dict[str, Any]]:
    return [{"addresses": [address]} for address in addresses]


def test_empty_lists_are_written_as_null() -> None:
    written = orjson.loads(Codec(full_scheme()).encode(read(), V1))

    assert (written["endpoints"], written["ports"]) == (None, None)
    assert read(endpoints=None, ports=[]) == read()


def test_a_port_has_a_name_and_a_protocol() -> None:
    (port,) = read(ports=[{"port": 80}]).ports

    assert (port.name, port.protocol, port.port) == ("", "TCP", 80)


def test_the_topology_of_older_versions_is_dropped() -> None:
    new = read(endpoints=[{"addresses": ["10.0.0.1"], "deprecatedTopology": {"a": "b"}}])
    changed, old = new.deep_copy(), read(endpoints=endpoints("10.0.0.1"))

    STRATEGY.prepare_for_create(new)
    STRATEGY.prepare_for_update(changed, old)

    assert new.endpoints[0].deprecated_topology == {}
    assert changed.endpoints[0].deprecated_topology == {}


def test_labels_are_part_of_the_desired_state() -> None:
    slices = [read(), read(labels={"a": "b"}), read(ports=[{"port": 80}])]
    states = [STRATEGY.desired_state(found) for found in slices]

    assert states[0] == STRATEGY.desired_state(read())
    assert states[0] not in states[1:]


def test_endpoints_that_do_not_change_are_not_validated_again() -> None:
    old, new = read(endpoints=endpoints("127.0.0.1")), read(endpoints=endpoints("127.0.0.1"))

    assert messages(STRATEGY.validate_update(new, old)) == []


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ({"endpoints": endpoints("10.0.0.1") * 1001}, "endpoints: Too many: 1001: must have at"),
        ({"ports": [{"name": "a"}] * 20_001}, "ports: Too many: 20001: must have at most 20000"),
    ],
)
def test_slices_are_bounded(document: dict[str, Any], rule: str) -> None:
    (error,) = messages(STRATEGY.validate(read(**document)))

    assert error.startswith(rule)


@pytest.mark.parametrize(
    ("document", "ports", "addresses"),
    [
        ({}, "<unset>", "<unset>"),
        ({"ports": [{}]}, "<unset>", "<unset>"),
        (
            {"ports": [{"name": "a"}, {"port": 80}], "endpoints": endpoints("1.1.1.1", "1.1.1.2")},
            "a,80",
            "1.1.1.1,1.1.1.2",
        ),
        (
            {
                "ports": [{"port": port} for port in range(1, 6)],
                "endpoints": [
                    {"addresses": ["1.1.1.1", "1.1.1.2"]},
                    *endpoints("2.2.2.2", "3.3.3.3"),
                ],
            },
            "1,2,3 + 2 more...",
            "1.1.1.1,1.1.1.2,2.2.2.2 + 1 more...",
        ),
    ],
)
def test_columns(document: dict[str, Any], ports: str, addresses: str) -> None:
    found = {column.name: column.cell(read(**document)) for column in ENDPOINT_SLICE_COLUMNS}

    assert found == {"AddressType": "IPv4", "Ports": ports, "Endpoints": addresses}


def test_domain_names_are_deprecated() -> None:
    made = read("FQDN", endpoints=endpoints("example.com"))

    assert list(STRATEGY.warnings(made)) == ["spec.addressType: FQDN endpoints are deprecated"]
    assert list(STRATEGY.warnings(made, made)) == []


def test_addresses_should_be_canonical_unless_a_controller_wrote_them() -> None:
    odd = endpoints("2001:DB8::1")
    controller = {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}

    assert list(STRATEGY.warnings(read("IPv6", endpoints=odd))) == [
        'endpoints[0].addresses[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical'
        ' format ("2001:db8::1")'
    ]
    assert list(STRATEGY.warnings(read("IPv6", endpoints=odd, labels=controller))) == []
