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
from apimachinery.document_head import metadata_start
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.scheme import NotRegistered
from apimachinery.storage_codec import StorageCodec, StoredObject, metadata_only
from apiserver.storage.interface import Record
from apiserver.storage.keys import InvalidStorageKey, parse


def read_record(codec: StorageCodec, cls: type[Object], record: Record) -> StoredObject:
    """Decode a record as far as possible, with its revision as the resourceVersion."""
    try:
        stored = codec.read(record.value)
    except (ValueError, NotRegistered, RecursionError) as error:
        stored = metadata_only(cls, stored_metadata(record.value), str(error))
    if not stored.problem and not stored.object.metadata.name:
        stored = stored._replace(problem="metadata.name: the object has no name")
    if stored.problem:
        _name_by_key(stored.object.metadata, record.key)
    stored.object.metadata.resource_version = str(record.revision)
    return stored


def has_metadata(record: Record) -> bool:
    """Return whether the metadata of a record can be decoded, whatever the rest is."""
    return stored_metadata(record.value) is not None


def stored_metadata(value: bytes) -> dict[str, Any] | None:
    """Return the metadata in stored bytes of any kind, whatever the rest is; None if unreadable."""
    start = metadata_start(value)
    try:
        if start is None:
            metadata = orjson.loads(value)["metadata"]
        else:
            metadata = JSONDecoder().raw_decode(value[start:].decode())[0]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return metadata if isinstance(metadata, dict) else None


def splice_metadata(value: bytes, metadata: ObjectMeta) -> bytes:
    """Return stored bytes with other metadata; every byte outside of it stays as it is.

    Fields of the metadata that this code does not know are kept, too. Raises ValueError.
    """
    known = {info.alias for info in ObjectMeta.model_fields.values()}
    before = stored_metadata(value) or {}
    unknown = {name: part for name, part in before.items() if name not in known}
    after = orjson.loads(dump_json(storable_metadata(metadata)))
    return replace_metadata(value, {**after, **unknown})


def replace_metadata(value: bytes, metadata: dict[str, Any]) -> bytes:
    """Return stored bytes of any kind with *metadata* in place of theirs. Raises ValueError."""
    start = metadata_start(value)
    if start is None:  # another program has written it: there are no bytes to keep
        return orjson.dumps({**orjson.loads(value), "metadata": metadata})
    text = value[start:].decode()
    _, end = JSONDecoder().raw_decode(text)
    return value[:start] + orjson.dumps(metadata) + text[end:].encode()


def differs_beyond_metadata(before: bytes, after: bytes) -> bool:
    """Return whether two stored documents differ in anything but the metadata."""
    one, other = orjson.loads(before), orjson.loads(after)
    one.pop("metadata", None)
    other.pop("metadata", None)
    return bool(one != other)


def _name_by_key(metadata: ObjectMeta, key: str) -> None:
    """Set the name and namespace: the key is the truth, also if the metadata is damaged."""
    try:
        parts = parse(key)
    except InvalidStorageKey:
        return
    metadata.name, metadata.namespace = parts.name, parts.namespace
