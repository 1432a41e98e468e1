"""Model: the pydantic base of every API type, and `field`, which says what the wire must know.

One definition serves everything: the wire codec, conversion, patches, field ownership, protobuf,
OpenAPI and the fuzzer all read the same class. The rules that hold for every Model:

- **Names.** `ready_replicas` is `readyReplicas` on the wire, always; what the Kubernetes API
  spells otherwise says so (`field(wire="podIP")`).
- **Types are strict.** No "5" for 5, no 1 for true, no 5.0 for 5; an `int` has 64 bits.
- **Omission.** A field without a default is always written. One whose default is empty (`""`, 0,
  False, an empty list or map) is left out when empty. `T | None = None` keeps unset apart from
  zero: only None is left out, except that an empty list or map always counts as unset. A default
  that is not empty (`replicas: int = 1`) and a nested Model are always written.
- **Ownership.** `class Reference(Model, map_type="atomic")` is owned and applied whole, wherever
  it stands; otherwise each field is.
- **Order.** Fields come in the order of the class, maps in the order of their keys, so equal
  objects have equal bytes.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    dataclass_transform,
    overload,
)

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticUndefined

from apimachinery.model.type_shape import ListType
from apimachinery.model.wire_rules import (
    FLAT,
    MODEL,
    MODEL_LIST,
    copy_plan,
    never,
    omission,
    refine,
    wire_name,
)

T = TypeVar("T")
MapType = Literal["granular", "atomic"]


@dataclass(frozen=True, slots=True)
class Markers:
    """What a field's type does not tell: identity of list elements, merging, protobuf number."""

    list_type: ListType | None = None
    list_map_keys: tuple[str, ...] = ()
    map_type: MapType | None = None
    patch_strategy: tuple[str, ...] = ()
    patch_merge_key: str = ""
    proto: int | tuple[int, ...] | None = None
    """The field's number; a tuple is a path through messages that JSON does not show, as where Go
    inlines a struct: (2, 5) is field 5 of the message in field 2."""
    enum: tuple[str, ...] = ()
    """The known values of an open set: documented, not enforced."""
    deprecated: str = ""
    """Why the field should not be set any more; empty while it should."""


NO_MARKERS = Markers()


class FieldOptions(TypedDict, total=False):
    """What may be said of a field, beside its type and default."""

    wire: str
    """The name on the wire, when it is not the camelCase of the Python name."""
    doc: str
    list_type: ListType
    list_map_keys: tuple[str, ...]
    """Wire names of what identifies an element; the list is then of type "map"."""
    map_type: MapType
    patch_strategy: str
    """As Kubernetes writes it: "merge", "merge,retainKeys"."""
    patch_merge_key: str
    proto: int | tuple[int, ...]
    enum: tuple[str, ...]
    deprecated: str
    """What who sets the field is told: "since v1; use spec.new", or only "use spec.new"."""
    omit_empty: bool
    """Overrides the omission rule."""
    ge: Any
    gt: Any
    le: Any
    lt: Any
    multiple_of: int
    min_length: int
    max_length: int
    pattern: str


@overload
def field(default: T, **options: Unpack[FieldOptions]) -> T: ...


@overload
def field(*, default_factory: Callable[[], T], **options: Unpack[FieldOptions]) -> T: ...


@overload
def field(**options: Unpack[FieldOptions]) -> Any: ...


def field(
    default: Any = PydanticUndefined,
    *,
    default_factory: Callable[[], Any] | None = None,
    **options: Unpack[FieldOptions],
) -> Any:
    """Declare a field of a Model; without a default it is required."""
    constraints: dict[str, Any] = {name: options[name] for name in _CONSTRAINTS if name in options}  # type: ignore[literal-required]
    if default_factory is not None:
        constraints["default_factory"] = default_factory
    else:
        constraints["default"] = default
    if "omit_empty" in options:
        constraints["exclude_if"] = operator.not_ if options["omit_empty"] else never
    info: FieldInfo = Field(
        alias=options.get("wire"), description=options.get("doc"), **constraints
    )
    info.metadata.append(_markers(options))
    return info


_CONSTRAINTS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")


def _markers(options: FieldOptions) -> Markers:
    keys = options.get("list_map_keys", ())
    strategy = options.get("patch_strategy", "")
    return Markers(
        list_type=options.get("list_type") or ("map" if keys else None),
        list_map_keys=tuple(keys),
        map_type=options.get("map_type"),
        patch_strategy=tuple(strategy.split(",")) if strategy else (),
        patch_merge_key=options.get("patch_merge_key", ""),
        proto=options.get("proto"),
        enum=options.get("enum", ()),
        deprecated=options.get("deprecated", ""),
    )


# `field` is not among the specifiers: type checkers would then want `default=` spelled out in each.
@dataclass_transform(kw_only_default=True, field_specifiers=())
class Model(BaseModel):
    """The base of every type that crosses the wire, and of the internal ones behind them."""

    model_config = ConfigDict(
        strict=True,
        alias_generator=wire_name,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        extra="ignore",
        allow_inf_nan=False,
        protected_namespaces=(),
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        for info in cls.__pydantic_fields__.values():
            if info.exclude_if is None:
                info.exclude_if = omission(info)
            info.metadata = _constraints_last(info.metadata)
        schema = handler(source)
        refine(schema)
        return schema

    __map_type__: ClassVar[MapType | None] = None
    __copy_plan__: ClassVar[tuple[tuple[str, int], ...] | None] = None
    __keeps_unknown__: ClassVar[bool] = False

    def __init_subclass__(cls, map_type: MapType | None = None, **config: Any) -> None:
        """With `map_type="atomic"` values of the class are owned and replaced as a whole."""
        super().__init_subclass__(**config)
        cls.__copy_plan__ = None  # made on first use, and never a parent's
        cls.__keeps_unknown__ = cls.model_config.get("extra") == "allow"
        if map_type is not None:
            cls.__map_type__ = map_type

    def deep_copy(self) -> Self:
        """A copy that shares nothing mutable with this object; which fields were given is lost."""
        return _copy_model(self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return _copy_model(self)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        if self.__dict__ != other.__dict__:
            return False
        if not self.__keeps_unknown__:
            return True
        return self.__pydantic_extra__ == cast(Self, other).__pydantic_extra__

    if not TYPE_CHECKING:  # a type checker would take it for a promise that every name is there

        def __getattr__(self, name: str) -> Any:
            """Stand in for the notes of pydantic's that an object was made without."""
            return _NOTES[name] if name in _NOTES else super().__getattr__(name)

    __hash__: ClassVar[None]  # type: ignore[assignment]  # mutable, so unhashable

    def __repr_args__(self) -> Any:
        """What differs from the defaults: a repr of a pod should fit on a screen."""
        for name, value in super().__repr_args__():
            info = type(self).__pydantic_fields__.get(name or "")
            if info is None or info.exclude_if is None or not info.exclude_if(value):
                yield name, value


def _constraints_last(metadata: list[Any]) -> list[Any]:
    """What `field` declared, behind what the type brings with it.

    pydantic applies them in order and puts the default's first: the bounds of an Int32 would undo
    a narrower `ge=1`, and the reader of a Duration would begin without it.
    """
    end = next((i + 1 for i, part in enumerate(metadata) if isinstance(part, Markers)), 0)
    return [*metadata[end:], *metadata[:end]]


def new_model(cls: type["ModelT"], values: dict[str, Any]) -> "ModelT":
    """An instance around *values*, which must be complete and right: nothing is checked.

    For conversions and decoders that have just made the values from checked ones.
    """
    made = cls.__new__(cls)
    _set_values(made, values)
    return made


class _NothingGiven(set[str]):
    """The fields that were given to a model that forgot them: none, and one of this for all."""

    def add(self, field: str, /) -> None:
        """Ignored: whoever sets a field of one model must not change the others."""

    def copy(self) -> set[str]:
        return set()

    __copy__ = copy


_NOTHING_GIVEN = _NothingGiven()
_NOTES: Final[dict[str, Any]] = {
    "__pydantic_fields_set__": _NOTHING_GIVEN,
    "__pydantic_extra__": None,
    "__pydantic_private__": None,
}
"""What a model has beside its fields, if nothing was noted."""


def forget_given(model: "Model") -> None:
    """Drop what pydantic remembers of which fields were given, here and below, in place.

    It is a set in every decoded model, together about as large as all the rest, and nothing asks
    for it. For objects that are kept in large numbers; `read_json` makes them without.
    """
    if model.__pydantic_fields_set__ is not _NOTHING_GIVEN:
        _forget_given(model)


def _forget_given(model: "Model") -> None:
    cls = model.__class__
    plan = cls.__copy_plan__
    if plan is None:
        plan = cls.__copy_plan__ = copy_plan(cls)
    _set_fields_set(model, _NOTHING_GIVEN)
    values = model.__dict__
    for name, level in plan:
        value = values.get(name)  # absent in one that was constructed without it
        if level == MODEL and value is not None:
            _forget_given(value)
        elif level == MODEL_LIST and value:
            for item in value:
                _forget_given(item)


ModelT = TypeVar("ModelT", bound=Model)

# The slots of every pydantic model, set directly: `__setattr__` would look each up by name.
_slots: Any = BaseModel.__dict__
_set_values = _slots["__dict__"].__set__
_set_fields_set = _slots["__pydantic_fields_set__"].__set__
_set_extra = _slots["__pydantic_extra__"].__set__


def deep_copy(value: T) -> T:
    """A copy of any value a Model can hold; what cannot change is shared."""
    kind = type(value)
    if kind is dict:
        return cast(T, {key: deep_copy(item) for key, item in cast(Any, value).items()})
    if kind is list:
        return cast(T, [deep_copy(item) for item in cast(Any, value)])
    # Asked by attribute: `isinstance` of a pydantic class is ten times as slow.
    copier = getattr(value, "deep_copy", None)
    return value if copier is None else copier()


def _copy_model(model: ModelT) -> ModelT:
    # What to copy is known per class, and scalars are never looked at: a pod-sized object has a
    # hundred fields and this runs for every read-modify-write.
    cls = model.__class__
    plan = cls.__copy_plan__
    if plan is None:
        plan = cls.__copy_plan__ = copy_plan(cls)
    values = model.__dict__.copy()
    for name, level in plan:
        value = values[name]
        if value is None:
            continue
        if level == FLAT:
            values[name] = value.copy()
        elif level == MODEL:
            values[name] = _copy_model(value)
        elif level == MODEL_LIST:
            values[name] = [_copy_model(item) for item in value]
        else:
            values[name] = deep_copy(value)
    made = cls.__new__(cls)
    _set_values(made, values)
    if cls.__keeps_unknown__:
        _set_extra(made, deep_copy(model.__pydantic_extra__))
    return made
