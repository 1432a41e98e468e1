"""What a Model class says about itself, read once: the view all generic code shares.

Conversion, patches, protobuf, OpenAPI and the fuzzer need the same few facts of every field. They
are worked out here from pydantic's, kept with the class, and plain to read: a `TypeInfo` is a
model, a list, a map, a scalar or anything at all.
"""

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from apimachinery.model.model import NO_MARKERS, Markers, Model
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape, Untyped

Category = Literal["model", "list", "map", "scalar", "any"]


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """A type of a field. *metadata* is what `Annotated` carries: constraints and wire types."""

    category: Category
    python: Any
    """The Model class, the Python scalar, or a union of scalars (`int | str`)."""
    item: "TypeInfo | None" = None
    """What a list holds, or a map's values are."""
    optional: bool = False
    metadata: tuple[Any, ...] = ()

    @property
    def model(self) -> type[Model] | None:
        """The Model at the bottom of lists and maps, if there is one."""
        if self.category == "model":
            return self.python  # type: ignore[no-any-return]
        return self.item.model if self.item else None

    def marked(self, marker: object) -> bool:
        return any(found is marker for found in self.metadata)


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
        return self.info.get_default(call_default_factory=True, validated_data={})


def fields_of(cls: type[BaseModel]) -> tuple[ModelField, ...]:
    """Every field of *cls* in order, its own and inherited ones."""
    known: tuple[ModelField, ...] | None = cls.__dict__.get("__model_fields_cache__")
    if known is None:
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        known = tuple(_field(name, info) for name, info in cls.__pydantic_fields__.items())
        # On the class itself, so that facts live exactly as long as what they describe.
        type.__setattr__(cls, "__model_fields_cache__", known)
    return known


def reachable(cls: type[BaseModel]) -> set[type[BaseModel]]:
    """The class and every one that its objects can hold."""
    found: set[type[BaseModel]] = set()
    waiting = [cls]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(model for field in fields_of(one) if (model := field.type.model))
    return found


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
    """Read one annotation. *metadata* is what stood around it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *extra = get_args(annotation)
        return type_info(inner, (*metadata, *(one for part in extra for one in _unpacked(part))))
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


def _unpacked(metadata: Any) -> Iterable[Any]:
    """pydantic's Field(ge=…) inside an Annotated carries its constraints in a list of its own."""
    return metadata.metadata if isinstance(metadata, FieldInfo) else (metadata,)


def _union(annotation: Any, metadata: tuple[Any, ...]) -> TypeInfo:
    arms = [arm for arm in get_args(annotation) if arm is not type(None)]
    optional = len(arms) < len(get_args(annotation))
    if len(arms) == 1:
        inner = type_info(arms[0], metadata)
        return TypeInfo(inner.category, inner.python, inner.item, optional, inner.metadata)
    return TypeInfo("scalar", Union[tuple(arms)], None, optional, metadata)  # noqa: UP007


def shape_of(cls: type[BaseModel]) -> StructShape:
    """The shape that patches and field ownership see, made once per class."""
    known: StructShape | None = cls.__dict__.get("__shape_cache__")
    if known is None:
        known = StructShape(
            cls.__name__,
            lambda: {f.wire: _shape(f.type, f.markers) for f in fields_of(cls)},
            atomic=getattr(cls, "__map_type__", None) == "atomic",
            preserves_unknown=cls.model_config.get("extra") == "allow",
        )
        type.__setattr__(cls, "__shape_cache__", known)
    return known


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
        return MapShape(values, atomic=markers.map_type == "atomic", patch_strategy=strategy)
    if info.category == "model":
        return _struct_shape(info.python, markers, strategy)
    return Untyped() if info.category == "any" else Scalar()


def _struct_shape(cls: type[BaseModel], markers: Markers, strategy: frozenset[str]) -> StructShape:
    plain = shape_of(cls)
    if not markers.map_type and not strategy:
        return plain
    return StructShape(
        plain.name,
        lambda: plain.fields,
        atomic=markers.map_type == "atomic" if markers.map_type else plain.atomic,
        preserves_unknown=plain.preserves_unknown,
        patch_strategy=strategy,
    )


def _key_defaults(item: TypeInfo, keys: tuple[str, ...]) -> dict[str, Any]:
    if item.category != "model":
        return {}
    return {f.wire: f.default for f in fields_of(item.python) if f.wire in keys and _has_default(f)}


def _has_default(found: ModelField) -> bool:
    return not found.required and found.default not in (None, "", 0)
