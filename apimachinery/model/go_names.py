"""Go's names of the types and fields of Models, which Kubernetes shows in decode errors.

Most of them follow from the class: a struct has its name, a package that of its version. The others
are in a module `go_types` beside the classes, which is imported when an error needs it: `GO_TYPES`
has the types of fields that Go names (`v1.Protocol` is a string), `EMBEDDED` the structs that Go
embeds in another one; their fields are those whose protobuf number is a path.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MICRO_TIME
from apimachinery.scalars.wire_types import FIELDS_V1, INT32, RAW

_VERSION: Final = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")
_MAP: Final = re.compile(r"map\[[^]]*\]")
_SCALARS: Final[Mapping[Any, str]] = {
    str: "string",
    bool: "bool",
    float: "float64",
    int: "int64",
    bytes: "[]uint8",
    Quantity: "resource.Quantity",
    datetime: "v1.Time",
    timedelta: "v1.Duration",
}


def struct_name(cls: type[BaseModel]) -> str:
    """Return the name of the struct; the one that Go reads only the kind with has none."""
    kind: str = getattr(cls, "__kind__", "") or cls.__name__
    return "" if cls.__name__ == "TypeMeta" else kind


def type_name(info: TypeInfo) -> str:
    """Return the Go type of values, as far as it follows from the Python type."""
    if info.marked(RAW):
        return "runtime.RawExtension"
    if info.marked(FIELDS_V1):
        return "v1.FieldsV1"
    match info.category:
        case "model":
            return f"{_package(info.python)}.{struct_name(info.python)}"
        case "list" if info.item is not None:
            return f"[]{type_name(info.item)}"
        case "map" if info.item is not None:
            return f"map[string]{type_name(info.item)}"
    return _scalar(info)


def field_type(cls: type[BaseModel], field: ModelField) -> str:
    """Return the Go type of a field."""
    return _names(cls, "GO_TYPES").get(f"{cls.__name__}.{field.wire}") or type_name(field.type)


def field_steps(cls: type[BaseModel], field: ModelField) -> tuple[str, ...]:
    """Return the steps to a field of the struct: its name, after the structs it is embedded in."""
    proto = field.markers.proto
    depth = len(proto) - 1 if isinstance(proto, tuple) else 0
    embedded: tuple[str, ...] = _names(cls, "EMBEDDED").get(cls.__name__, ())
    return (*embedded[:depth], field.wire)


def item_type(go_type: str, info: TypeInfo) -> str:
    """Return the Go type of the items of a list or map."""
    match = _MAP.match(go_type)
    if match is not None:
        return go_type[match.end() :]
    if go_type.startswith("[]"):
        return go_type[2:]
    return type_name(info.item) if info.item is not None else go_type


def struct_field(cls: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, str, str]:
    """Return struct, path and type of the field at *location*, as Go's decoder names them."""
    struct, steps, info = struct_name(cls), list[str](), TypeInfo("model", cls)
    go_type = type_name(info)
    for step in location:
        if info.category == "model":
            field = next((field for field in fields_of(info.python) if field.wire == step), None)
            if field is None:
                break
            struct, go_type = struct_name(info.python), field_type(info.python, field)
            steps += field_steps(info.python, field)
            info = field.type
        elif info.item is not None:
            info, go_type = info.item, item_type(go_type, info)
        else:
            break
    return struct, ".".join(steps), go_type


def _scalar(info: TypeInfo) -> str:
    if info.marked(INT_OR_STRING):
        return "intstr.IntOrString"
    if info.marked(MICRO_TIME):
        return "v1.MicroTime"
    if info.marked(INT32):
        return "int32"
    python = info.python
    if get_origin(python) is Literal and all(isinstance(word, str) for word in get_args(python)):
        return "string"
    known = next((name for cls, name in _SCALARS.items() if _is_a(python, cls)), None)
    return known or "string" if not get_args(python) else "interface {}"


def scalar_kind(info: TypeInfo) -> str:
    """Return Go's kind of a plain scalar; empty for a type that has a parser of its own."""
    name = _scalar(info)
    return name if name in ("string", "bool", "int32", "int64", "float64", "[]uint8") else ""


def _is_a(python: Any, cls: type) -> bool:
    return python is cls or (cls is str and isinstance(python, type) and issubclass(python, str))


def _package(cls: type[BaseModel]) -> str:
    """Return the package of a struct: its version, or the module of a class without one."""
    parts = cls.__module__.split(".")
    if parts[:2] == ["apimachinery", "meta"]:
        return "v1"
    return next((part for part in parts if _VERSION.fullmatch(part)), parts[-1])


def _names(cls: type[BaseModel], table: str) -> Mapping[str, Any]:
    package = cls.__module__.rpartition(".")[0]
    # A module at the top, such as that of the classes of custom resources, has no package.
    module = _module(package) if package else None
    names: Mapping[str, Any] = getattr(module, table, {})
    return names


@lru_cache(maxsize=128)
def _module(package: str) -> ModuleType | None:
    name = f"{package}.go_types"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None
