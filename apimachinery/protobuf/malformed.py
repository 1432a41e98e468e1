"""Malformed protobuf: find the position and the reason.

The library only reports that a message is corrupt, and treats a field of the wrong wire type as an
unknown field, which Kubernetes rejects. When the library fails or skips fields, this module
re-parses the bytes against the descriptor: slowly, but with exact errors.
"""

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from apimachinery.protobuf.descriptors import is_inlined
from apimachinery.protobuf.field_forms import BOOL, DOUBLE, INT_32, INT_64
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf

MAX_DEPTH = 100
"""Maximum nesting depth of messages, the same as in the library."""

_VARINT, _FIXED64, _LENGTH, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_FIXED: Mapping[int, int] = {_FIXED64: 8, _FIXED32: 4}
WIRE_TYPES: Mapping[int, int] = {BOOL: _VARINT, INT_32: _VARINT, INT_64: _VARINT, DOUBLE: _FIXED64}
"""The wire types of numbers; all other fields have a length."""


def check_message(data: bytes, descriptor: Descriptor) -> None:
    """Raise InvalidProtobuf for the first error in *data*, a message of type *descriptor*.

    Unknown field numbers are not errors: newer clients send newer fields.
    """
    _check_message(data, descriptor, 0)


def _add_place(error: InvalidProtobuf, field: FieldDescriptor) -> InvalidProtobuf:
    """Prefix the error with *field*, unless JSON inlines the field."""
    return error if is_inlined(field.name) else error.under(field.json_name)


def _check_message(data: bytes, descriptor: Descriptor, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidProtobuf(f"messages are nested more than {MAX_DEPTH} deep")
    position = 0
    while position < len(data):
        tag, start = read_tag(data, position)
        field = descriptor.fields_by_number.get(tag >> 3)
        position = skip_value(data, start, tag, depth)
        if field is not None:
            try:
                _check_field(data[start:position], field, tag & 7, depth)
            except InvalidProtobuf as error:
                raise _add_place(error, field) from None
        elif descriptor.GetOptions().map_entry:
            # The library would silently drop the entry.
            raise InvalidProtobuf(
                f"a map entry has fields 1 (key) and 2 (value), but no field {tag >> 3}"
            )


def _check_field(content: bytes, field: FieldDescriptor, wire_type: int, depth: int) -> None:
    expected = WIRE_TYPES.get(field.type, _LENGTH)
    # All singular fields have explicit presence, so a field without presence is a list.
    packed = expected != _LENGTH and wire_type == _LENGTH and not field.has_presence
    if wire_type != expected and not packed:
        raise InvalidProtobuf(f"wrong wire type {wire_type}, expected {expected}")
    if wire_type != _LENGTH:
        return
    _, start = read_varint(content, 0)
    if packed:
        _check_packed(content[start:], expected)
    elif field.message_type is not None:
        _check_message(content[start:], field.message_type, depth + 1)
    elif field.type == FieldDescriptor.TYPE_STRING:
        _check_text(content[start:])


def _check_packed(content: bytes, wire_type: int) -> None:
    position = 0
    while position < len(content):
        position = skip_value(content, position, wire_type, 0)


def _check_text(content: bytes) -> None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidProtobuf("a string must be valid UTF-8") from None


def read_tag(data: bytes, position: int) -> tuple[int, int]:
    """Return the tag at *position* (field number and wire type combined) and its end."""
    tag, position = read_varint(data, position)
    if not 0 < tag >> 3 < 2**29:
        raise InvalidProtobuf(f"illegal field number {tag >> 3}")
    return tag, position


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the integer at *position* and its end."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise InvalidProtobuf("unexpected end of data")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80 and value < 2**64:
            return value, position
    raise InvalidProtobuf("an integer has more than 64 bits")


def skip_value(data: bytes, position: int, tag: int, depth: int) -> int:
    """Return the position after the value of a field with *tag*."""
    wire_type = tag & 7
    if wire_type == _VARINT:
        return read_varint(data, position)[1]
    if wire_type == _START_GROUP:
        return _skip_group(data, position, tag, depth + 1)
    if wire_type == _LENGTH:
        size, position = read_varint(data, position)
    elif wire_type in _FIXED:
        size = _FIXED[wire_type]
    else:
        raise InvalidProtobuf(f"illegal wire type {wire_type}")
    if size > len(data) - position:
        remaining = len(data) - position
        raise InvalidProtobuf(f"unexpected end of data: {size} bytes announced, {remaining} left")
    return position + size


def _skip_group(data: bytes, position: int, start: int, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise InvalidProtobuf(f"messages are nested more than {MAX_DEPTH} deep")
    while True:
        tag, position = read_tag(data, position)
        if tag & 7 != _END_GROUP:
            position = skip_value(data, position, tag, depth)
        elif tag >> 3 == start >> 3:
            return position
        else:
            raise InvalidProtobuf(f"group {start >> 3} ends as group {tag >> 3}")
