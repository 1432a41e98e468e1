"""Record reading: decode stored records, and write back only the metadata of incomplete ones.

One object that cannot be decoded must not fail anybody else's request. Such an object is read as
far as possible: what decodes, else its metadata, else the name in its key. An object that this code
cannot hold completely keeps its stored bytes: a change of its metadata (labels, finalizers, a
deletion) replaces the metadata inside them and leaves every other byte as it is.
"""

from json import JSONDecoder
from typing import Any

import orjson

from apimachinery.codec import dump_json, storable_metadata
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.decoding import DecodeError
from apimachinery.scheme import NotRegistered
from apimachinery.storage_codec import StorageCodec, StoredObject, metadata_only
from apiserver.storage.interface import Record
from apiserver.storage.keys import InvalidStorageKey, parse

_METADATA = '"metadata":'


def read_record(codec: StorageCodec, cls: type[Object], record: Record) -> StoredObject:
    """Decode a record as far as possible, with its revision as the resourceVersion."""
    try:
        stored = codec.read(record.value)
    except (DecodeError, NotRegistered) as error:
        stored = _unreadable(cls, record, str(error))
    stored.object.metadata.resource_version = str(record.revision)
    return stored


def has_metadata(record: Record) -> bool:
    """Return whether the metadata of a record can be decoded, whatever the rest is."""
    return stored_metadata(record.value) is not None


def stored_metadata(value: bytes) -> dict[str, Any] | None:
    """Return the metadata in stored bytes of any kind, whatever the rest is; None if unreadable."""
    try:
        metadata, _, _ = _find_metadata(value.decode())
    except (ValueError, RecursionError):
        return None
    return metadata if isinstance(metadata, dict) else None


def splice_metadata(value: bytes, metadata: ObjectMeta) -> bytes:
    """Return stored bytes with other metadata; every byte outside of it stays as it is.

    Fields of the metadata that this code does not know are kept, too. Raises ValueError.
    """
    before, _, _ = _find_metadata(value.decode())
    known = {info.alias for info in ObjectMeta.model_fields.values()}
    unknown = {name: part for name, part in before.items() if name not in known}
    after = orjson.loads(dump_json(storable_metadata(metadata)))
    return replace_metadata(value, {**after, **unknown})


def replace_metadata(value: bytes, metadata: dict[str, Any]) -> bytes:
    """Return stored bytes of any kind with *metadata* in place of theirs. Raises ValueError."""
    text = value.decode()
    _, start, end = _find_metadata(text)
    return (text[:start] + orjson.dumps(metadata).decode() + text[end:]).encode()


def differs_beyond_metadata(before: bytes, after: bytes) -> bool:
    """Return whether two stored documents differ in anything but the metadata."""
    one, other = orjson.loads(before), orjson.loads(after)
    one.pop("metadata", None)
    other.pop("metadata", None)
    return bool(one != other)


def _unreadable(cls: type[Object], record: Record, problem: str) -> StoredObject:
    stored = metadata_only(cls, stored_metadata(record.value), problem)
    meta = stored.object.metadata
    try:
        key = parse(record.key)
    except InvalidStorageKey:
        return stored
    # The key is the truth about the name, also if the metadata cannot be decoded.
    meta.name, meta.namespace = key.name, key.namespace
    return stored._replace(problem=problem)


def _find_metadata(text: str) -> tuple[Any, int, int]:
    """Return the metadata in a document, and where it begins and ends. Raises ValueError.

    Every stored document has its metadata before any other field that could contain metadata.
    """
    start = text.index(_METADATA) + len(_METADATA)
    metadata, end = JSONDecoder().raw_decode(text, start)
    return metadata, start, end
