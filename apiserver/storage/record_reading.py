"""Record reading: decode stored records, and write back only the metadata of incomplete ones.

One object that cannot be decoded must not fail anybody else's request. Such an object is read as
far as possible: what decodes, else its metadata, else the name in its key. An object that this code
cannot hold completely keeps its stored bytes: a change of its metadata (labels, finalizers, a
deletion) replaces the metadata inside them and leaves every other byte as it is.
"""

from json import JSONDecodeError, JSONDecoder
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
    return isinstance(_stored_metadata(record), dict)


def splice_metadata(value: bytes, metadata: ObjectMeta) -> bytes:
    """Return stored bytes with other metadata; every byte outside of it stays as it is.

    Fields of the metadata that this code does not know are kept, too. Raises ValueError.
    """
    text = value.decode()
    start = text.index(_METADATA) + len(_METADATA)
    before, end = JSONDecoder().raw_decode(text, start)
    known = {info.alias for info in ObjectMeta.model_fields.values()}
    unknown = {name: part for name, part in before.items() if name not in known}
    after = orjson.loads(dump_json(storable_metadata(metadata)))
    spliced = orjson.dumps({**after, **unknown}).decode()
    return (text[:start] + spliced + text[end:]).encode()


def differs_beyond_metadata(before: bytes, after: bytes) -> bool:
    """Return whether two stored documents differ in anything but the metadata."""
    one, other = orjson.loads(before), orjson.loads(after)
    one.pop("metadata", None)
    other.pop("metadata", None)
    return bool(one != other)


def _unreadable(cls: type[Object], record: Record, problem: str) -> StoredObject:
    stored = metadata_only(cls, _stored_metadata(record), problem)
    meta = stored.object.metadata
    try:
        key = parse(record.key)
    except InvalidStorageKey:
        return stored
    # The key is the truth about the name, also if the metadata cannot be decoded.
    meta.name, meta.namespace = key.name, key.namespace
    return stored._replace(problem=problem)


def _stored_metadata(record: Record) -> Any:
    try:
        text = record.value.decode()
        return JSONDecoder().raw_decode(text, text.index(_METADATA) + len(_METADATA))[0]
    except (UnicodeDecodeError, ValueError, JSONDecodeError, RecursionError):
        return None
