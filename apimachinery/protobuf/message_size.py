"""Message size: count the fields of a protobuf message before it is parsed.

The library parses a message in one call that lets no other thread run. Only a message that is large
enough to have too many fields is counted, and its strings and bytes are skipped.
"""

from google.protobuf.descriptor import Descriptor

from apimachinery.protobuf.malformed import WIRE_TYPES, read_tag, read_varint, skip_value
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf
from apimachinery.serialization.document_size import MAX_VALUES

_LENGTH = 2
_NestedTypes = dict[int, Descriptor | None]
"""Number of a field with a length -> its message type; None if it is a packed list."""


def has_many_fields(data: bytes, descriptor: Descriptor) -> bool:
    """Return whether a message, with those nested in it, has more than MAX_VALUES fields.

    A malformed message has few: the parser reports its error.
    """
    if len(data) <= 2 * MAX_VALUES:
        return False
    try:
        return _count_fields(data, descriptor) > MAX_VALUES
    except InvalidProtobuf:
        return False


def _count_fields(data: bytes, descriptor: Descriptor) -> int:
    """Count the fields, and stop soon after MAX_VALUES."""
    nested_types: dict[str, _NestedTypes] = {}
    pending = [(0, len(data), descriptor)]
    count = 0
    while pending and count <= MAX_VALUES:
        position, end, message = pending.pop()
        if message.full_name not in nested_types:
            nested_types[message.full_name] = _nested_types(message)
        nested = nested_types[message.full_name]
        while position < end and count <= MAX_VALUES:
            tag, start = read_tag(data, position)
            position = skip_value(data, start, tag, 0)
            count += 1
            if tag & 7 == _LENGTH and tag >> 3 in nested:
                size, start = read_varint(data, start)
                inner = nested[tag >> 3]
                if inner is None:
                    count += size
                    continue
                if size:
                    # The entry of a map counts like a member of an object: as its key and value.
                    count -= inner.GetOptions().map_entry
                    pending.append((start, position, inner))
    return count


def _nested_types(message: Descriptor) -> _NestedTypes:
    return {
        field.number: field.message_type
        for field in message.fields
        if field.message_type is not None or field.type in WIRE_TYPES
    }
