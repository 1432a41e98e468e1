"""Stored rules: what a write of a stored object would be refused for, under today's rules.

The constraints of the stored class and of every served version, the rules that their fields
declare, and the validation of the strategy. Metadata is not validated: it never changes its rules.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.fieldpath import ErrorType, FieldError
from apimachinery.lenient.constraint_errors import stored_errors
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.schema import GroupVersion
from apiserver.evolution.judgement import StoredKind
from apiserver.group import Group
from apiserver.install import Groups
from apiserver.registry.declared_fields import declared_errors
from apiserver.registry.strategy import Strategy

_STEP: Final = re.compile(r"\[(?P<key>[^\]]*)\]|(?P<name>[^.\[\]]+)")


def stored_rules(
    groups: Groups, group: Group, kind: StoredKind, strategy: Strategy[Any]
) -> Callable[[Object, bytes], list[FieldError]]:
    """Return a function that lists the errors of an internal object and its stored bytes."""
    name = kind.codec.stored_kind(kind.cls).kind
    versions = [GroupVersion(group.name, version) for version in group.versions]
    served = [version for version in versions if groups.scheme.recognizes(version.with_kind(name))]

    def errors(obj: Object, data: bytes) -> Iterator[FieldError]:
        yield from _missing(kind, obj, data)
        yield from strategy.validate(obj)
        for version in served:
            versioned = groups.codec.in_version(obj, version)
            yield from _refused(type(versioned), dump_json(versioned))
            yield from declared_errors(groups.scheme, version.with_kind(name), obj, None)

    def first_of_each_field(obj: Object, data: bytes) -> list[FieldError]:
        by_field: dict[str, FieldError] = {}
        for error in errors(obj, data):
            by_field.setdefault(error.field, error)
        return list(by_field.values())

    return first_of_each_field


def _refused(cls: Any, data: bytes) -> tuple[FieldError, ...]:
    """Return what the constraints of a class refuse. Raises DecodeError for wrong types."""
    try:
        decode_json(cls, data, find_unknown=False)
    except DecodeError as error:
        if not error.fields:
            raise
        return error.fields
    return ()


def _missing(kind: StoredKind, obj: Object, data: bytes) -> Iterator[FieldError]:
    """Yield the errors of the stored class; a required field counts as missing if it is absent.

    Reading sets such a field to zero, which may as well be its stored value.
    """
    document = orjson.loads(data)
    encoded = kind.codec.encode(obj)
    for error in stored_errors(kind.stored_class, encoded):
        if error.type is not ErrorType.REQUIRED or not _has(document, error.field):
            yield error


def _has(document: Any, path: str) -> bool:
    value = document
    for step in _STEP.finditer(path):
        name = step["name"] or step["key"]
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return False
    return value is not None
