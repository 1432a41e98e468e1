"""ServiceCIDRs and IPAddresses: documents, what is wrong with one, and what may change."""

from typing import Any

import orjson
import pytest

from apimachinery.codec import Codec
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.names import is_dns1123_subdomain
from apis.networking.install import NETWORKING
from apis.networking.register import V1
from apis.networking.strategy import IPAddressStrategy, ServiceCIDRStrategy
from apis.networking.v1 import IPAddress, IPAddressSpec, ParentReference, ServiceCIDR
from tests.apis.groups import full_scheme
from tests.apis.validating import decoded, messages

(SUBDOMAIN,) = is_dns1123_subdomain("Odd_")
RANGES, ADDRESSES = ServiceCIDRStrategy(), IPAddressStrategy()


def service_cidr(*cidrs: str) -> ServiceCIDR:
    return decoded(ServiceCIDR, {"metadata": {"name": "extra"}, "spec": {"cidrs": cidrs}})


def address(**parent: str) -> IPAddress:
    return decoded(IPAddress, {"metadata": {"name": "10.0.0.1"}, "spec": {"parentRef": parent}})


def cells(resource: str, obj: Object) -> dict[str, Any]:
    columns = next(found.columns for found in NETWORKING.resources if found.name == resource)
    return {column.name: column.cell(obj) for column in columns}


def test_a_minimal_range_is_written_as_it_was_read() -> None:
    written = orjson.loads(Codec(full_scheme()).encode(service_cidr("10.0.0.0/24"), V1))

    assert written["spec"] == {"cidrs": ["10.0.0.0/24"]}
    assert written["status"] == {}


FAMILIES = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


@pytest.mark.parametrize(
    ("cidrs", "expected"),
    [
        (["10.0.0.0/24"], []),
        (["10.0.0.0/24", "2001:db8::/64"], []),
        ([], ["spec.cidrs: Required value: at least one CIDR required"]),
        (
            ["10.0.0.0/24", "10.1.0.0/24", "2001:db8::/64"],
            [
                'spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/24","10.1.0.0/24","2001:db8::/64"]}'
                ": may only hold up to 2 values"
            ],
        ),
        (
            ["10.0.0.0/24", "10.1.0.0/24"],
            [f'spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: {FAMILIES}'],
        ),
        (
            ["10.0.0.0"],
            [
                'spec.cidrs[0]: Invalid value: "10.0.0.0": must be a valid CIDR value,'
                " (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            ],
        ),
        (
            ["10.0.0.1/24"],
            [
                'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond'
                " the prefix length"
            ],
        ),
        (
            ["10.0.0.0/024"],
            [
                'spec.cidrs[0]: Invalid value: "10.0.0.0/024": must not have leading 0s in IP'
                " or prefix length"
            ],
        ),
        (
            ["2001:DB8::/64"],
            [
                'spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form'
                ' ("2001:db8::/64")'
            ],
        ),
    ],
)
def test_mistakes_in_ranges(cidrs: list[str], expected: list[str]) -> None:
    assert messages(RANGES.validate(service_cidr(*cidrs))) == expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (["10.0.0.0/24"], []),
        (["10.0.0.0/24", "2001:db8::/64"], []),
        (["10.1.0.0/24"], ['spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable']),
        (
            ["10.1.0.0/24", "2001:DB8::/64"],
            [
                'spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable',
                'spec.cidrs[1]: Invalid value: "2001:DB8::/64": must be in canonical form'
                ' ("2001:db8::/64")',
            ],
        ),
        ([], ["spec.cidrs: Invalid value: null: field is immutable"]),
    ],
)
def test_a_second_range_is_the_only_change(new: list[str], expected: list[str]) -> None:
    found = RANGES.validate_update(service_cidr(*new), service_cidr("10.0.0.0/24"))

    assert messages(found) == expected


def test_a_dual_stack_range_stays_dual_stack() -> None:
    old = service_cidr("10.0.0.0/24", "2001:db8::/64")

    assert messages(RANGES.validate_update(service_cidr("10.0.0.0/24"), old)) == [
        'spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable'
    ]


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


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        ({"resource": "services", "namespace": "default", "name": "web"}, []),
        (
            {},
            [
                "spec.parentRef.resource: Required value",
                "spec.parentRef.name: Required value",
            ],
        ),
        (
            {"group": "Odd_", "resource": "a/b", "name": "..", "namespace": "%"},
            [
                f'spec.parentRef.group: Invalid value: "Odd_": {SUBDOMAIN}',
                "spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/'",
                "spec.parentRef.name: Invalid value: \"..\": may not be '..'",
                "spec.parentRef.namespace: Invalid value: \"%\": may not contain '%'",
            ],
        ),
    ],
)
def test_mistakes_in_addresses(parent: dict[str, str], expected: list[str]) -> None:
    assert messages(ADDRESSES.validate(address(**parent))) == expected


def test_an_address_needs_a_parent() -> None:
    assert messages(ADDRESSES.validate(IPAddress())) == ["spec.parentRef: Required value"]


def test_the_parent_of_an_address_cannot_change() -> None:
    old, new = (address(resource="services", name=name) for name in ("a", "b"))

    assert messages(ADDRESSES.validate_update(new, old)) == [
        "spec.parentRef: Invalid value: null: field is immutable"
    ]
    assert messages(ADDRESSES.validate_update(old, old)) == []


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
