"""ObjectCodec: decode and encode the objects and lists of one class, as JSON.

A client may send plain dicts in place of objects; the functions for these are here too.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

import orjson

from apimachinery.codec import dump_json
from apimachinery.lenient.bulk_decoding import bulk_decode_json
from apimachinery.lenient.lazy_decoding import (
    lazy_decode_document,
    lazy_decode_json,
    load_object,
)
from apimachinery.lenient.level_plan import Unusual
from apimachinery.lenient.plain_json import load_plain
from apimachinery.meta.status import Status
from apimachinery.meta.types import (
    ListMeta,
    Object,
    ObjectMeta,
    PartialObjectMetadata,
    TypeMeta,
)
from apimachinery.meta.unstructured import Unstructured, UnstructuredList
from apimachinery.model.decoding import decode_json
from apimachinery.model.model import Model, new_model
from apimachinery.scalars.time import format_time
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import list_class
from client.paging import Page
from client.runtime.gc_pause import GC_PAUSER
from client.transport.request import InvalidRequest

ObjectT = TypeVar("ObjectT", bound=Object)

Document: TypeAlias = Mapping[str, Any]
"""An object in its JSON form, with camelCase keys; kind and apiVersion are optional."""


class ObjectCodec(Generic[ObjectT]):
    """Decodes and encodes the objects of one class.

    The nested objects of a decoded object are decoded when they are first read.
    """

    def __init__(self, cls: type[ObjectT]) -> None:
        self.cls = cls

    def decode(self, data: bytes) -> ObjectT:
        """Decode one object; raises DecodeError."""
        if self.cls is Unstructured:
            return cast(ObjectT, _decode_unstructured(data))
        return lazy_decode_json(self.cls, data)

    def decode_bookmark(self, data: bytes) -> ObjectT:
        """Decode the object of a bookmark, which has only metadata and lacks required fields."""
        if self.cls is Unstructured:
            return self.decode(data)
        partial = decode_json(PartialObjectMetadata, data, find_unknown=False).object
        return self.cls.model_construct(
            kind=partial.kind, api_version=partial.api_version, metadata=partial.metadata
        )

    def decode_or_status(self, data: bytes) -> ObjectT | Status:
        """Decode the response to a delete: the object, or a Status once it is deleted."""
        type_meta = decode_json(TypeMeta, data, find_unknown=False).object
        if (type_meta.kind, type_meta.api_version) == ("Status", "v1"):
            return decode_json(Status, data, find_unknown=False).object
        return self.decode(data)

    def decode_list(self, data: bytes, kind: GroupVersionKind | None = None) -> Page[ObjectT]:
        """Decode a list as a page; set *kind* on items without kind, as servers send them."""
        with GC_PAUSER.paused(len(data)):
            meta, items = self._decode_items(data)
            if kind is not None:
                for item in items:
                    if not item.kind:
                        item.__dict__.update(kind=kind.kind, api_version=kind.api_version)
        return Page(items, meta.resource_version, meta.continue_, meta.remaining_item_count)

    def _decode_items(self, data: bytes) -> tuple[ListMeta, list[ObjectT]]:
        if self.cls is Unstructured:
            unstructured_list = _decode_unstructured_list(data)
            return unstructured_list.metadata, cast(list[ObjectT], unstructured_list.items)
        try:
            return self._decode_items_lazily(data)
        except _FAST_PATH_ERRORS:
            object_list = bulk_decode_json(list_class(self.cls), data)
            return object_list.metadata, cast(list[ObjectT], object_list.items)

    def _decode_items_lazily(self, data: bytes) -> tuple[ListMeta, list[ObjectT]]:
        document = load_plain(data)
        documents = document.pop("items")
        if type(documents) is not list:
            raise TypeError
        # Decoded for the errors in it: the kind of a list has no other use.
        lazy_decode_document(TypeMeta, document)
        meta = lazy_decode_document(ListMeta, document.get("metadata", {}))
        return meta, [lazy_decode_document(self.cls, item) for item in documents]

    def encode(self, obj: ObjectT | Document, kind: GroupVersionKind | None) -> bytes:
        """Encode *obj*, with the kind and apiVersion of *kind* if that is given.

        Raises InvalidRequest if a document contains values that JSON cannot represent.
        """
        if isinstance(obj, Model):
            return dump_json(_with_kind(obj, kind))
        if kind is None:
            return encode_document(obj)
        type_meta = {
            "kind": obj.get("kind") or kind.kind,
            "apiVersion": obj.get("apiVersion") or kind.api_version,
        }
        return encode_document({**obj, **type_meta})


def _decode_unstructured(data: bytes) -> Unstructured:
    """Decode one object of any kind; only its metadata is validated."""
    try:
        return _unstructured_from(load_object(data))
    except _FAST_PATH_ERRORS:
        return decode_json(Unstructured, data, find_unknown=False).object


def _decode_unstructured_list(data: bytes) -> UnstructuredList:
    try:
        document = load_plain(data)
        documents = document.pop("items")
        if type(documents) is not list:
            raise TypeError
        items = [_unstructured_from(item) for item in documents]
        unstructured_list = UnstructuredList.model_validate(document, by_alias=True, by_name=False)
    except _FAST_PATH_ERRORS:
        return decode_json(UnstructuredList, data, find_unknown=False).object
    unstructured_list.items = items
    return unstructured_list


def peek_continue_token(data: bytes) -> str:
    """Return the continue token of an encoded list without decoding its items.

    Returns an empty string unless the metadata precedes the items, as servers write it.
    """
    head, separator, _ = data[:_LIST_HEAD_BYTES].partition(b'"items":')
    if not separator:
        return ""
    try:
        token = orjson.loads(head + b'"items":[]}')["metadata"]["continue"]
    except _FAST_PATH_ERRORS:
        return ""
    return token if isinstance(token, str) else ""


_LIST_HEAD_BYTES: Final = 8 * 1024
"""Bytes of a list in which the metadata before its items should fit."""
_FAST_PATH_ERRORS: Final = (ValueError, TypeError, AttributeError, KeyError, Unusual)
"""Errors of the fast decoder for an unexpected document; the slow one then reports the reason."""


def _unstructured_from(document: dict[str, Any]) -> Unstructured:
    kind, api_version = document.pop("kind", ""), document.pop("apiVersion", "")
    if type(kind) is not str or type(api_version) is not str:
        raise TypeError
    metadata = lazy_decode_document(ObjectMeta, document.pop("metadata", {}))
    obj = new_model(Unstructured, {"kind": kind, "api_version": api_version, "metadata": metadata})
    object.__setattr__(obj, "__pydantic_extra__", document)
    return obj


def encode_document(document: Document | Sequence[Any]) -> bytes:
    """Encode a document, whose values may include models and times, as JSON.

    Raises InvalidRequest if a value cannot be represented in JSON.
    """
    try:
        return orjson.dumps(document, default=_encode_value, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"the object cannot be encoded as JSON: {error}") from None


def name_of(obj: Object | Document) -> str:
    return str(_metadata(obj).get("name") or "")


def namespace_of(obj: Object | Document) -> str:
    return str(_metadata(obj).get("namespace") or "")


def without_managed_fields(obj: ObjectT | Document) -> ObjectT | Document:
    """Return *obj* without managedFields, which servers reject in an apply request."""
    if isinstance(obj, Object):
        if not obj.metadata.managed_fields:
            return obj
        copy = obj.deep_copy()
        copy.metadata.managed_fields = []
        return copy
    metadata = obj.get("metadata")
    if not isinstance(metadata, Mapping) or "managedFields" not in metadata:
        return obj
    remaining = {key: value for key, value in metadata.items() if key != "managedFields"}
    return {**obj, "metadata": remaining}


def _metadata(obj: Object | Document) -> Mapping[str, Any]:
    if isinstance(obj, Object):
        return {"name": obj.metadata.name, "namespace": obj.metadata.namespace}
    metadata = obj.get("metadata") or {}
    if isinstance(metadata, Model):
        metadata = metadata.model_dump(mode="json")
    if not isinstance(metadata, Mapping):
        raise InvalidRequest("metadata: must be an object")
    return metadata


def _with_kind(obj: ObjectT, kind: GroupVersionKind | None) -> ObjectT:
    if kind is None or (obj.kind == kind.kind and obj.api_version == kind.api_version):
        return obj
    copy = new_model(
        type(obj), {**obj.__dict__, "kind": kind.kind, "api_version": kind.api_version}
    )
    object.__setattr__(copy, "__pydantic_extra__", obj.__pydantic_extra__)
    return copy


def _encode_value(value: Any) -> Any:
    if isinstance(value, Model):
        return orjson.Fragment(dump_json(value))
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__qualname__} is not a JSON value")
