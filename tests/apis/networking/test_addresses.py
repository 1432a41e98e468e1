"""ServiceCIDRs and IPAddresses: documents, names and columns."""

from typing import Any

import orjson
import pytest

from apimachinery.codec import Codec
from apimachinery.meta.types import Object, ObjectMeta
from apis.networking.install import NETWORKING
from apis.networking.register import V1
from apis.networking.strategy import IPAddressStrategy
from apis.networking.v1 import IPAddress, IPAddressSpec, ParentReference, ServiceCIDR
from tests.apis.groups import full_scheme
from tests.apis.validating import decoded

ADDRESSES = IPAddressStrategy()


def service_cidr(*cidrs: str) -> ServiceCIDR:
    return decoded(ServiceCIDR, {"metadata": {"name": "extra"}, "spec": {"cidrs": cidrs}})


def cells(resource: str, obj: Object) -> dict[str, Any]:
    columns = next(found.columns for found in NETWORKING.resources if found.name == resource)
    return {column.name: column.cell(obj) for column in columns}


def test_a_minimal_range_is_written_as_it_was_read() -> None:
    written = orjson.loads(Codec(full_scheme()).encode(service_cidr("10.0.0.0/24"), V1))

    assert written["spec"] == {"cidrs": ["10.0.0.0/24"]}
    assert written["status"] == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("10.0.0.1", []),
        ("2001:db8::1", []),
        ("web", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        ("10.0.0.01", ["must not have leading 0s"]),
        ("::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]),
        ("2001:DB8::1", ['must be in canonical form ("2001:db8::1")']),
        ("2001:db8:0::1", ['must be in canonical form ("2001:db8::1")']),
    ],
)
def test_names_of_addresses_are_canonical(name: str, expected: list[str]) -> None:
    assert ADDRESSES.name_errors(name) == expected


def test_columns_of_ranges() -> None:
    shown = cells("servicecidrs", service_cidr("10.0.0.0/24", "2001:db8::/64"))

    assert shown == {"CIDRs": "10.0.0.0/24,2001:db8::/64"}


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        (None, "<none>"),
        (ParentReference(resource="Services", namespace="ns", name="web"), "services/ns/web"),
        (
            ParentReference(group="gw.example.io", resource="gateways", name="a"),
            "gateways.gw.example.io/a",
        ),
    ],
)
def test_columns_of_addresses(parent: ParentReference | None, expected: str) -> None:
    made = IPAddress(metadata=ObjectMeta(name="10.0.0.1"), spec=IPAddressSpec(parent_ref=parent))

    assert cells("ipaddresses", made) == {"Name": "10.0.0.1", "ParentRef": expected}
