"""Names in resource.k8s.io (drivers, pools, requests, attributes), and rules for lists."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    required,
    too_long,
    too_many,
)
from apimachinery.names import (
    byte_length,
    is_c_identifier,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_dns1123_subdomain_caseless,
)

MAX_DRIVER: Final = 63
MAX_POOL: Final = 253
MAX_DOMAIN: Final = 63
MAX_IDENTIFIER: Final = 32

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SLASHES: Final = "a fully qualified name must be a domain and a name separated by a slash"

T = TypeVar("T")


def validate_items(
    items: Sequence[T], path: Path, limit: int, validate: Callable[[T, Path], FieldErrors]
) -> FieldErrors:
    """Validate each item of a list, unless there are more than *limit*."""
    if len(items) > limit:
        yield too_many(path, len(items), limit)
        return
    for position, item in enumerate(items):
        yield from validate(item, path.index(position))


def validate_unique(
    items: Sequence[T], path: Path, key: Callable[[T], object], limit: int | None = None
) -> FieldErrors:
    """Validate that no two items have the same key; the error shows the whole item."""
    if limit is not None and len(items) > limit:
        return
    keys: set[object] = set()
    for position, item in enumerate(items):
        if key(item) in keys:
            yield duplicate(path.index(position), item)
        keys.add(key(item))


def validate_driver_name(name: str, path: Path) -> FieldErrors:
    """Validate the name under which a driver publishes devices."""
    yield from _validate_driver_name(name, path, is_dns1123_subdomain(name.lower()))


def validate_driver_reference(name: str, path: Path) -> FieldErrors:
    """Validate a reference to a driver, with another message for the same rule."""
    yield from _validate_driver_name(name, path, is_dns1123_subdomain_caseless(name))


def validate_pool_name(name: str, path: Path) -> FieldErrors:
    """Validate the name under which a pool is published."""
    if not name:
        yield required(path)
        return
    if byte_length(name) > MAX_POOL:
        yield too_long(path, MAX_POOL)
    for part in name.split("/"):
        yield from _invalid(is_dns1123_subdomain(part), part, path)


def validate_pool_reference(name: str, path: Path) -> FieldErrors:
    """Validate a reference to a pool, with another message for the same rule."""
    if not name:
        yield required(path)
        return
    if byte_length(name) > MAX_POOL:
        yield too_long(path, MAX_POOL)
    for position, part in enumerate(name.split("/")):
        for problem in is_dns1123_subdomain(part):
            yield invalid(path, name, f"segment {position}: {problem}")


def validate_label(name: str, path: Path) -> FieldErrors:
    """Validate the name of a device, request or counter."""
    yield from _invalid(is_dns1123_label(name), name, path)


def validate_class_name(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
    else:
        yield from _invalid(is_dns1123_subdomain(name), name, path)


def validate_qualified_name(name: str, path: Path) -> FieldErrors:
    """Validate the name of an attribute or capacity, with or without a domain."""
    parts = name.split("/")
    if len(parts) == 1:
        yield from _validate_identifier(name, path)
    elif len(parts) == 2:
        domain, identifier = parts
        if not domain:
            yield invalid(path, "", "the domain must not be empty")
        else:
            yield from validate_driver_name(domain, path)
        if not identifier:
            yield invalid(path, "", "the name must not be empty")
        else:
            yield from _validate_identifier(identifier, path)


def validate_fully_qualified_name(name: str, path: Path) -> FieldErrors:
    domain, slash, identifier = name.partition("/")
    if "/" in identifier:
        return  # as in Kubernetes
    if not slash:
        yield from _validate_identifier(name, path)
        yield invalid(path, name, _SLASHES)
        return
    if not domain:
        yield invalid(path, "", "prefix must not be empty")
    else:
        yield from validate_driver_name(domain, path)
    if not identifier:
        yield invalid(path, "", "name must not be empty")
    else:
        yield from _validate_identifier(identifier, path)


def validate_uid(uid: str, path: Path) -> FieldErrors:
    if not _UUID.fullmatch(uid):
        yield invalid(path, uid, "must be a lowercase UUID in 8-4-4-4-12 format")


def json_size(value: object) -> int:
    """Return the size of a document of any type in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def shortened_key(key: str, limit: int) -> str:
    """Return the key of a map as paths show it: long ones without their middle."""
    if len(key) <= limit:
        return key
    remaining = limit - 3
    return f"{key[: (remaining + 1) // 2]}...{key[len(key) - remaining // 2 :]}"


def _validate_driver_name(name: str, path: Path, problems: Iterable[str]) -> FieldErrors:
    if not name:
        yield required(path)
        return
    if byte_length(name) > MAX_DRIVER:
        yield too_long(path, MAX_DRIVER)
    yield from _invalid(problems, name, path)


def _validate_identifier(name: str, path: Path) -> FieldErrors:
    if byte_length(name) > MAX_IDENTIFIER:
        yield too_long(path, MAX_IDENTIFIER)
    yield from _invalid(is_c_identifier(name), name, path)


def _invalid(problems: Iterable[str], value: str, path: Path) -> FieldErrors:
    for problem in problems:
        yield invalid(path, value, problem)
