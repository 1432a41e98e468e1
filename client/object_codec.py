"""Objects and lists as bytes, for one class; what a client sends may also be a plain dict."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

import orjson

from apimachinery.codec import dump_json
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object, ObjectList, ObjectMeta, PartialObjectMetadata, TypeMeta
from apimachinery.meta.unstructured import Unstructured, UnstructuredList
from apimachinery.model.bulk_decoding import read_document, read_json
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
"""An object as JSON has it: camelCase, and kind and apiVersion may be left out."""


class ObjectCodec(Generic[ObjectT]):
    """Reads and writes the objects of one class."""

    def __init__(self, cls: type[ObjectT]) -> None:
        self.cls = cls

    def decode(self, data: bytes) -> ObjectT:
        """One object, or DecodeError."""
        if self.cls is Unstructured:
            return cast(ObjectT, _decode_unstructured(data))
        return read_json(self.cls, data)

    def decode_bookmark(self, data: bytes) -> ObjectT:
        """The object of a bookmark: metadata and nothing else, required fields or not."""
        if self.cls is Unstructured:
            return self.decode(data)
        found = decode_json(PartialObjectMetadata, data, find_unknown=False).object
        return self.cls.model_construct(
            kind=found.kind, api_version=found.api_version, metadata=found.metadata
        )

    def decode_or_status(self, data: bytes) -> ObjectT | Status:
        """What a delete is answered with: the object, or a Status that it is gone."""
        said = decode_json(TypeMeta, data, find_unknown=False).object
        if (said.kind, said.api_version) == ("Status", "v1"):
            return decode_json(Status, data, find_unknown=False).object
        return self.decode(data)

    def decode_list(self, data: bytes, kind: GroupVersionKind | None = None) -> Page[ObjectT]:
        """A page of objects; items that do not repeat their kind are given *kind*."""
        with GC_PAUSER.paused(len(data)):
            found, items = self._list(data)
            if kind is not None:
                for item in items:
                    if not item.kind:
                        item.__dict__.update(kind=kind.kind, api_version=kind.api_version)
        meta = found.metadata
        return Page(items, meta.resource_version, meta.continue_, meta.remaining_item_count)

    def _list(self, data: bytes) -> tuple["ObjectList[Any] | UnstructuredList", list[ObjectT]]:
        if self.cls is Unstructured:
            untyped = _decode_unstructured_list(data)
            return untyped, cast(list[ObjectT], untyped.items)
        found = read_json(list_class(self.cls), data)
        return found, cast(list[ObjectT], found.items)

    def encode(self, obj: ObjectT | Document, kind: GroupVersionKind | None) -> bytes:
        """*obj* with its kind and apiVersion."""
        if isinstance(obj, Model):
            return dump_json(_with_kind(obj, kind))
        if kind is None:
            return encode_document(obj)
        named = {
            "kind": obj.get("kind") or kind.kind,
            "apiVersion": obj.get("apiVersion") or kind.api_version,
        }
        return encode_document({**obj, **named})


def _decode_unstructured(data: bytes) -> Unstructured:
    """One object of any kind: only its metadata is looked at, the rest stays as it was parsed."""
    try:
        return _unstructured(orjson.loads(data))
    except _ODD:
        return decode_json(Unstructured, data, find_unknown=False).object


def _decode_unstructured_list(data: bytes) -> UnstructuredList:
    """A list of objects of any kind."""
    try:
        document = orjson.loads(data)
        listed = document.pop("items")
        if type(listed) is not list:
            raise TypeError
        items = [_unstructured(item) for item in listed]
        found = UnstructuredList.model_validate(document, by_alias=True, by_name=False)
    except _ODD:
        return decode_json(UnstructuredList, data, find_unknown=False).object
    found.items = items
    return found


def peek_continue_token(data: bytes) -> str:
    """The token for the page after this one, if it stands before the items, as servers write it."""
    head, found, _ = data[:_HEAD].partition(b'"items":')
    if not found:
        return ""
    try:
        token = orjson.loads(head + b'"items":[]}')["metadata"]["continue"]
    except _ODD:
        return ""
    return token if isinstance(token, str) else ""


_HEAD: Final = 8 * 1024
"""Bytes in which all that a list has before its items should be."""
_ODD: Final = (ValueError, TypeError, AttributeError, KeyError)
"""What a document that is not quite as expected runs into; the slow decoder says what it is."""


def _unstructured(document: dict[str, Any]) -> Unstructured:
    kind, api_version = document.pop("kind", ""), document.pop("apiVersion", "")
    if type(kind) is not str or type(api_version) is not str:
        raise TypeError
    metadata = read_document(ObjectMeta, document.pop("metadata", {}))
    made = new_model(Unstructured, {"kind": kind, "api_version": api_version, "metadata": metadata})
    object.__setattr__(made, "__pydantic_extra__", document)
    return made


def encode_document(document: Document | Sequence[Any]) -> bytes:
    """JSON of a document, which may hold models and times among its values."""
    try:
        return orjson.dumps(document, default=_default, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"the object cannot be written as JSON: {error}") from None


def name_of(obj: Object | Document) -> str:
    return str(_metadata(obj).get("name") or "")


def namespace_of(obj: Object | Document) -> str:
    return str(_metadata(obj).get("namespace") or "")


def without_managed_fields(obj: ObjectT | Document) -> ObjectT | Document:
    """*obj* as it may be applied: who owns what is the server's to say."""
    if isinstance(obj, Object):
        if not obj.metadata.managed_fields:
            return obj
        copied = obj.deep_copy()
        copied.metadata.managed_fields = []
        return copied
    metadata = obj.get("metadata")
    if not isinstance(metadata, Mapping) or "managedFields" not in metadata:
        return obj
    kept = {key: value for key, value in metadata.items() if key != "managedFields"}
    return {**obj, "metadata": kept}


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
    made = new_model(
        type(obj), {**obj.__dict__, "kind": kind.kind, "api_version": kind.api_version}
    )
    object.__setattr__(made, "__pydantic_extra__", obj.__pydantic_extra__)
    return made


def _default(value: Any) -> Any:
    if isinstance(value, Model):
        return orjson.Fragment(dump_json(value))
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__qualname__} is no JSON value")
