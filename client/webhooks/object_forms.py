"""ObjectForms: the versions in which reviews contain the objects of a kind, and their one class.

The functions of a webhook take one class. If that is the class of a version, reviews must have this
version. If it is the internal class of the kind, they may have any version of the scheme: objects
are converted, and errors name the fields as the version does.
"""

from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import BadRequest
from apimachinery.fieldpath import FieldError
from apimachinery.lenient.constraint_errors import stored_errors
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import assign
from apimachinery.ratcheting import new_errors
from apimachinery.schema import INTERNAL, GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.version import sort_versions
from client.webhooks.review_documents import encode_json

T = TypeVar("T", bound=Object)


class RefusedValues(Exception):
    """An object with values that the constraints of its class refuse."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__("invalid values")
        self.errors = errors


class ObjectForms(Generic[T]):
    """Decodes the objects of reviews to the class of a function, and encodes them again."""

    def __init__(self, scheme: Scheme, cls: type[T]) -> None:
        """Raises NotRegistered if the scheme does not have the class."""
        self.cls = cls
        self._scheme = scheme
        self.classes = versions_of(scheme, cls)

    @property
    def kind(self) -> GroupVersionKind:
        """The newest version that the functions accept."""
        return next(iter(self.classes))

    def class_of(self, kind: GroupVersionKind) -> type[Object]:
        """Return the class of a version. Raises BadRequest for another kind."""
        try:
            return self.classes[kind]
        except KeyError:
            known = ", ".join(map(str, self.classes))
            raise BadRequest(
                f"request.kind: Unsupported value: {kind}: this webhook reviews {known}"
            ) from None

    def decode(
        self, kind: GroupVersionKind, document: dict[str, Any], old: dict[str, Any] | None = None
    ) -> Object:
        """Decode an object in its version. Raises BadRequest, RefusedValues.

        Values that *old*, the stored object, has as well are not refused: constraints become
        stricter while objects are stored.
        """
        cls, data = self.class_of(kind), encode_json(document)
        try:
            return decode_json(cls, data, find_unknown=False).object
        except DecodeError as refused:
            if not refused.fields:
                # As a server says it of the body of a request.
                name = kind.kind
                raise BadRequest(
                    f'{name} in version "{kind.version}" cannot be handled as a {name}: {refused}'
                ) from None
            errors = list(refused.fields)
            if old is not None:
                errors = new_errors(errors, stored_errors(cls, encode_json(old)))
            if errors:
                raise RefusedValues(tuple(errors)) from None
            return decode_leniently(cls, data)

    def decode_stored(self, kind: GroupVersionKind, document: dict[str, Any]) -> T:
        """Decode the stored object, whose values were accepted once. Raises BadRequest."""
        try:
            versioned = decode_leniently(self.class_of(kind), encode_json(document))
        except DecodeError as error:
            raise BadRequest(f"request.oldObject: {error}") from None
        self._scheme.default(versioned)
        return self.for_function(versioned)

    def default(self, versioned: Object) -> None:
        """Apply the defaults of the version."""
        self._scheme.default(versioned)

    def for_function(self, versioned: Object) -> T:
        """Return the object in the class of the functions."""
        if type(versioned) is self.cls:
            return versioned
        return self._scheme.convert(versioned, self.cls)

    def encode(self, obj: Object, kind: GroupVersionKind) -> Any:
        """Return an object as a JSON document of a version."""
        versioned: Object = obj
        if type(obj) is not self.classes[kind]:
            versioned = self._scheme.convert(obj, self.classes[kind])
        assign(versioned, kind=kind.kind, api_version=kind.api_version)
        return orjson.loads(dump_json(versioned))

    def in_version(self, error: FieldError, kind: GroupVersionKind) -> FieldError:
        """Return the error of a function with the field as the version names it."""
        cls = self.classes[kind]
        if cls is self.cls:
            return error
        return replace(error, field=self._scheme.field_path(cls, error.field))


def versions_of(scheme: Scheme, cls: type[Object]) -> dict[GroupVersionKind, type[Object]]:
    """Return the versions of a class, newest first: all those of its kind if it is internal.

    Raises NotRegistered if the scheme does not have the class.
    """
    own = [kind for kind in scheme.kinds_of(cls) if kind.version != INTERNAL]
    if not scheme.is_internal(cls):
        return dict.fromkeys(own, cls)
    group_kinds = {kind.group_kind for kind in scheme.kinds_of(cls)}
    classes = {
        kind: cast(type[Object], registered)
        for kind, registered in scheme.all_kinds().items()
        if kind.version != INTERNAL and kind.group_kind in group_kinds
    }
    by_version = {kind.version: kind for kind in classes}
    newest_first = [by_version[version] for version in sort_versions(by_version)]
    return {kind: classes[kind] for kind in newest_first}
