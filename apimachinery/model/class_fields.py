"""Reflection on Model classes: their fields and types, computed once per class.

Conversion, patches, protobuf, OpenAPI and the fuzzer all need the same facts about every field.
They are derived here from pydantic's and cached on the class; a `TypeInfo` is a model, a list, a
map, a scalar or untyped.
"""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from apimachinery.model.markers import NO_MARKERS, Markers
from apimachinery.model.model import Model
from apimachinery.model.type_shape import (
    ListShape,
    MapShape,
    Scalar,
    ScalarType,
    Shape,
    StructShape,
    Untyped,
)
from apimachinery.model.wire_rules import default_of, never
from apimachinery.scalars.wire_types import OBJECT_OR_LIST, RAW

_PLAIN: Final = (str, int, bool, float, bytes)
"""No set: what annotations consist of need not be hashable."""

Category = Literal["model", "list", "map", "scalar", "any"]


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """The type of a field. *metadata* is that of `Annotated`: constraints and wire types."""

    category: Category
    python: Any
    """The Model class, the Python scalar, or a union of scalars (`int | str`)."""
    item: "TypeInfo | None" = None
    """The type of a list's items or of a map's values."""
    optional: bool = False
    metadata: tuple[Any, ...] = ()

    @property
    def model(self) -> type[Model] | None:
        """The Model class, also one nested in lists and maps; None for other types."""
        if self.category == "model":
            return self.python  # type: ignore[no-any-return]
        return self.item.model if self.item else None

    def marked(self, marker: object) -> bool:
        return any(part is marker for part in self.metadata)


@dataclass(frozen=True, slots=True)
class ModelField:
    """One field of a Model."""

    name: str
    wire: str
    type: TypeInfo
    required: bool
    markers: Markers
    doc: str
    info: FieldInfo

    @property
    def default(self) -> Any:
        return default_of(self.info)


def fields_of(cls: type[BaseModel]) -> tuple[ModelField, ...]:
    """Return every field of *cls* in order, own and inherited."""
    cached: tuple[ModelField, ...] | None = cls.__dict__.get("__model_fields_cache__")
    if cached is None:
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        cached = tuple(_field(name, info) for name, info in cls.__pydantic_fields__.items())
        # Cached on the class itself, so that the cache lives exactly as long as the class.
        type.__setattr__(cls, "__model_fields_cache__", cached)
    return cached


def reachable_models(cls: type[BaseModel]) -> set[type[BaseModel]]:
    """Return *cls* and every Model class nested in it, at any depth."""
    reached: set[type[BaseModel]] = set()
    pending = [cls]
    while pending:
        model_class = pending.pop()
        if model_class not in reached:
            reached.add(model_class)
            pending.extend(
                nested for field in fields_of(model_class) if (nested := field.type.model)
            )
    return reached


def any_marked(cls: type[BaseModel], is_marked: Callable[[Markers], bool]) -> bool:
    """Return whether a field of *cls*, or of a class nested in it, has such markers.

    No class is built for that, unless its annotations refer forward.
    """
    pending, seen = [cls], {cls}
    while pending:
        markers, nested = _declarations(pending.pop())
        if any(map(is_marked, markers)):
            return True
        pending += nested - seen
        seen |= nested
    return False


def _declarations(
    cls: type[BaseModel],
) -> tuple[tuple[Markers, ...], frozenset[type[BaseModel]]]:
    """Return the markers of the fields of *cls*, and the classes nested in it."""
    cached = cls.__dict__.get("__declarations_cache__")
    if cached is None:
        if not cls.__pydantic_fields_complete__:
            cls.model_rebuild()
        fields = cls.__pydantic_fields__.values()
        cached = (
            tuple(markers_of(info) for info in fields),
            frozenset(model for info in fields for model in _models_in(info.annotation)),
        )
        type.__setattr__(cls, "__declarations_cache__", cached)
    return cached


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation: without a TypeInfo, for a start reads all annotations."""
    if arguments := getattr(annotation, "__args__", ()):
        for part in arguments:
            yield from _models_in(part)
    elif annotation in _PLAIN:
        return
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation


def markers_of(info: FieldInfo) -> Markers:
    return next((part for part in info.metadata if isinstance(part, Markers)), NO_MARKERS)


def _field(name: str, info: FieldInfo) -> ModelField:
    metadata = tuple(part for part in info.metadata if not isinstance(part, Markers))
    return ModelField(
        name=name,
        wire=info.alias or name,
        type=type_info(info.annotation, metadata),
        required=info.is_required(),
        markers=markers_of(info),
        doc=info.description or "",
        info=info,
    )


def type_info(annotation: Any, metadata: tuple[Any, ...] = ()) -> TypeInfo:
    """Return the TypeInfo of an annotation. *metadata* comes from the enclosing `Annotated`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *parts = get_args(annotation)
        unpacked = (constraint for part in parts for constraint in _unpack(part))
        return type_info(inner, (*metadata, *unpacked))
    if origin in (Union, types.UnionType):
        return _union(annotation, metadata)
    if origin is list or annotation is list:
        (item,) = get_args(annotation) or (Any,)
        return TypeInfo("list", list, type_info(item), metadata=metadata)
    if origin in (dict, Mapping) or annotation is dict:
        _, value = get_args(annotation) or (str, Any)
        return TypeInfo("map", dict, type_info(value), metadata=metadata)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return TypeInfo("model", annotation, metadata=metadata)
    if annotation is Any or annotation is object:
        return TypeInfo("any", Any, metadata=metadata)
    return TypeInfo("scalar", annotation, metadata=metadata)


def _unpack(metadata: Any) -> Iterable[Any]:
    """Return the constraints of a pydantic `Field(ge=…)` inside an Annotated, or *metadata*."""
    return metadata.metadata if isinstance(metadata, FieldInfo) else (metadata,)


def _union(annotation: Any, metadata: tuple[Any, ...]) -> TypeInfo:
    alternatives = [
        alternative for alternative in get_args(annotation) if alternative is not type(None)
    ]
    optional = len(alternatives) < len(get_args(annotation))
    if len(alternatives) == 1:
        inner = type_info(alternatives[0], metadata)
        return TypeInfo(inner.category, inner.python, inner.item, optional, inner.metadata)
    return TypeInfo("scalar", Union[tuple(alternatives)], None, optional, metadata)  # noqa: UP007


def shape_of(cls: type[BaseModel]) -> StructShape:
    """Return the shape of *cls* for patches and field ownership, computed once per class."""
    cached: StructShape | None = cls.__dict__.get("__shape_cache__")
    if cached is None:
        cached = StructShape(
            cls.__name__,
            lambda: {f.wire: _shape(f.type, f.markers) for f in fields_of(cls)},
            atomic=getattr(cls, "__map_type__", None) == "atomic",
            preserves_unknown=cls.model_config.get("extra") == "allow",
        )
        type.__setattr__(cls, "__shape_cache__", cached)
    return cached


def _shape(info: TypeInfo, markers: Markers) -> Shape:
    strategy = frozenset(markers.patch_strategy)
    if info.category == "list" and info.item is not None:
        return ListShape(
            items=_shape(info.item, NO_MARKERS),
            type=markers.list_type or "atomic",
            keys=markers.list_map_keys,
            key_defaults=_key_defaults(info.item, markers.list_map_keys),
            patch_strategy=strategy,
            patch_merge_key=markers.patch_merge_key,
        )
    if info.category == "map" and info.item is not None:
        values = _shape(info.item, NO_MARKERS)
        # Kubernetes knows nothing of the fields of a raw document, so it is owned as a whole.
        atomic = markers.map_type == "atomic" or info.marked(RAW)
        return MapShape(values, atomic=atomic, patch_strategy=strategy)
    if info.category == "model" and not info.marked(OBJECT_OR_LIST):
        return _struct_shape(info.python, markers, strategy)
    is_open = info.category in ("any", "model") or _may_be_model(info.python)
    return Untyped() if is_open else Scalar(_SCALAR_TYPES.get(info.python, "any scalar"))


_SCALAR_TYPES: Final[Mapping[Any, ScalarType]] = {
    str: "string",
    bytes: "string",
    timedelta: "string",
    bool: "boolean",
    int: "numeric (int or float)",
    float: "numeric (int or float)",
}


def _may_be_model(python: Any) -> bool:
    """Return whether a union, such as that of a schema and a boolean, has a class."""
    return any(isinstance(part, type) and issubclass(part, BaseModel) for part in get_args(python))


def _struct_shape(cls: type[BaseModel], markers: Markers, strategy: frozenset[str]) -> StructShape:
    """Return the shape of the class, with the markers of the field that holds it."""
    class_shape = shape_of(cls)
    if not markers.map_type and not strategy:
        return class_shape
    return StructShape(
        class_shape.name,
        lambda: class_shape.fields,
        atomic=markers.map_type == "atomic" if markers.map_type else class_shape.atomic,
        preserves_unknown=class_shape.preserves_unknown,
        patch_strategy=strategy,
    )


def _key_defaults(item: TypeInfo, keys: tuple[str, ...]) -> dict[str, Any]:
    if item.category != "model":
        return {}
    fields = [field for field in fields_of(item.python) if field.wire in keys]
    defaults = {field.wire: _key_default(field) for field in fields}
    return {name: value for name, value in defaults.items() if value is not None}


def _key_default(field: ModelField) -> Any:
    """Return the value of a key that an element omits.

    The zero value is one, as in Go, if the field is encoded even when it is empty.
    """
    if field.required:
        return {str: "", int: 0}.get(field.type.python)
    return field.default if field.default or field.info.exclude_if is never else None
