"""Declared types: the types of variables and functions, in CEL's own notation.

`string`, `list(string)`, `map(string, dyn)` and names of messages such as `kubernetes.UserInfo`. A
message is declared by its fields; one without fields is an opaque type. The CEL library knows
messages by protobuf descriptors, which are built here.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from cel_expr_python import cel
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    struct_pb2,
    timestamp_pb2,
)

Messages = Mapping[str, Mapping[str, str]]
"""Name of a message -> name of a field -> its type."""

_FIELD: Final = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {
    "bool": (cel.Type.BOOL, _FIELD.TYPE_BOOL),
    "bytes": (cel.Type.BYTES, _FIELD.TYPE_BYTES),
    "double": (cel.Type.DOUBLE, _FIELD.TYPE_DOUBLE),
    "int": (cel.Type.INT, _FIELD.TYPE_INT64),
    "string": (cel.Type.STRING, _FIELD.TYPE_STRING),
    "uint": (cel.Type.UINT, _FIELD.TYPE_UINT64),
}
_WELL_KNOWN: Final = {
    "dyn": (cel.Type.DYN, "google.protobuf.Value"),
    "map(string, dyn)": (
        cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        "google.protobuf.Struct",
    ),
    "google.protobuf.Duration": (cel.Type.DURATION, "google.protobuf.Duration"),
    "google.protobuf.Timestamp": (cel.Type.TIMESTAMP, "google.protobuf.Timestamp"),
}
_NATIVE_NAMES: Final = {
    **{name.upper(): name for name in ("bool", "bytes", "double", "dyn", "int", "list", "map")},
    **{name.upper(): name for name in ("string", "type", "uint")},
    "DURATION": "google.protobuf.Duration",
    "NULL": "null_type",
    "TIMESTAMP": "google.protobuf.Timestamp",
}
_LIST: Final = re.compile(r"list\((.*)\)")
_MAP: Final = re.compile(r"map\(string, (.*)\)")
_OPTIONAL: Final = re.compile(r"optional_type\((.*)\)")
_FILES: Final = (duration_pb2, struct_pb2, timestamp_pb2)


def native_type(text: str) -> Any:
    """Return the CEL library's type for a type in CEL's notation."""
    if text in _SCALARS:
        return _SCALARS[text][0]
    if text in _WELL_KNOWN:
        return _WELL_KNOWN[text][0]
    if match := _LIST.fullmatch(text):
        return cel.Type.List(native_type(match[1]))
    if match := _MAP.fullmatch(text):
        return cel.Type.Map(cel.Type.STRING, native_type(match[1]))
    return cel.Type(text)


def type_text(native: Any) -> str:
    """Return a type of the CEL library in CEL's notation."""
    text: str = native.name().replace("<", "(").replace(">", ")")
    return re.sub(r"\b[A-Z]+\b", lambda name: _NATIVE_NAMES.get(name[0], name[0]), text)


def message_pool(messages: Messages) -> Any:
    """Return the descriptors of messages."""
    pool = descriptor_pool.DescriptorPool()
    for module in _FILES:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    packages: dict[str, dict[str, Mapping[str, str]]] = {}
    for name, fields in messages.items():
        package, _, short = name.rpartition(".")
        packages.setdefault(package, {})[short] = fields
    for package, members in packages.items():
        pool.AddSerializedFile(_package_file(package, members).SerializeToString())
    return pool


def _package_file(
    package: str, members: Mapping[str, Mapping[str, str]]
) -> descriptor_pb2.FileDescriptorProto:
    # In proto3, names that differ only in case and underscores exclude each other.
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package or 'unnamed'}.proto",
        package=package,
        syntax="proto2",
        dependency=[module.DESCRIPTOR.name for module in _FILES],
    )
    for short, fields in members.items():
        message = file.message_type.add(name=short)
        for number, (name, text) in enumerate(fields.items(), start=1):
            _add_field(message, name=name, number=number, text=text)
    return file


def _add_field(
    message: descriptor_pb2.DescriptorProto, *, name: str, number: int, text: str
) -> None:
    repeated = _LIST.fullmatch(text)
    item = repeated[1] if repeated else text
    if _LIST.fullmatch(item) or _OPTIONAL.fullmatch(item):
        repeated, item = None, "dyn"  # protobuf has no list of lists
    label = _FIELD.LABEL_REPEATED if repeated else _FIELD.LABEL_OPTIONAL
    field = message.field.add(name=name, number=number, label=label)
    if item in _SCALARS:
        field.type = _SCALARS[item][1]
        return
    field.type = _FIELD.TYPE_MESSAGE
    if item in _WELL_KNOWN:
        field.type_name = _WELL_KNOWN[item][1]
    elif entry := _MAP.fullmatch(item):
        _add_map_entry(message, field, entry[1])
    else:
        field.type_name = item


def _add_map_entry(
    message: descriptor_pb2.DescriptorProto, field: descriptor_pb2.FieldDescriptorProto, value: str
) -> None:
    # Protobuf prescribes the name of the message for the entries of a map.
    name = "".join(part[:1].upper() + part[1:] for part in field.name.split("_")) + "Entry"
    if any(nested.name == name for nested in message.nested_type):
        field.type_name = "google.protobuf.Struct"
        return
    entry = message.nested_type.add(name=name)
    entry.options.map_entry = True
    _add_field(entry, name="key", number=1, text="string")
    _add_field(entry, name="value", number=2, text=value)
    field.label = _FIELD.LABEL_REPEATED
    field.type_name = name
