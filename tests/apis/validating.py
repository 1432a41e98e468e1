"""Short ways to say what the tests of validation say."""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import orjson

from apimachinery.codec import Codec
from apimachinery.fieldpath import FieldError
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersionKind
from tests.apis.groups import full_scheme

T = TypeVar("T", bound=Object)

_SCHEME = full_scheme()


def messages(errors: Iterable[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def decoded(cls: type[T], document: dict[str, Any]) -> T:
    """An internal object of *cls* as a server reads it from a document, defaults and all."""
    kind: GroupVersionKind = _SCHEME.kind_of(cls)
    found = Codec(_SCHEME).decode_internal(orjson.dumps(document), expected=kind)
    return cast(T, found.object)
