"""Validation of IPAddresses."""

from apimachinery.fieldpath import NULL, FieldErrors, Path, immutable, invalid, required
from apimachinery.names import is_dns1123_subdomain, is_path_segment_name
from apis.networking.v1 import IPAddress, ParentReference


def validate_ip_address(address: IPAddress) -> FieldErrors:
    parent, path = address.spec.parent_ref, Path("spec", "parentRef")
    if parent is None:
        yield required(path)
    else:
        yield from _validate_parent(parent, path)


def validate_ip_address_update(new: IPAddress, old: IPAddress) -> FieldErrors:
    yield from validate_ip_address(new)
    if new.spec.parent_ref != old.spec.parent_ref:
        # As in Kubernetes, the message does not show the new value.
        yield immutable(Path("spec", "parentRef"), NULL)


def _validate_parent(parent: ParentReference, path: Path) -> FieldErrors:
    # The core group, which services are in, has an empty name.
    if parent.group:
        for error in is_dns1123_subdomain(parent.group):
            yield invalid(path.child("group"), parent.group, error)
    yield from _validate_segment(parent.resource, path.child("resource"))
    yield from _validate_segment(parent.name, path.child("name"))
    if parent.namespace:
        yield from _validate_segment(parent.namespace, path.child("namespace"))


def _validate_segment(value: str, path: Path) -> FieldErrors:
    if not value:
        yield required(path)
    for error in is_path_segment_name(value):
        yield invalid(path, value, error)
