"""Model: the pydantic base class of every API type, and `field`, which declares its fields.

The codec, conversion, patches, field ownership, protobuf, OpenAPI and the fuzzer all read the same
class. These rules hold for every Model:

- **Names.** `ready_replicas` is `readyReplicas` on the wire; a field that the Kubernetes API
  spells differently declares its name (`field(wire="podIP")`).
- **Types are strict.** No "5" for 5, no 1 for true, no 5.0 for 5; an `int` has 64 bits.
- **Omission.** A field without a default is always encoded. A field whose default is empty (`""`,
  0, False, an empty list or map) is omitted when empty. `T | None = None` distinguishes unset from
  zero: only None is omitted, except that an empty list or map always counts as unset. A field with
  another default (`replicas: int = 1`) and a nested Model are always encoded.
- **Ownership.** A class declared with `map_type="atomic"` is owned and applied as a whole;
  otherwise each of its fields has its own owners.
- **Order.** Fields are encoded in the order of the class and maps in the order of their keys, so
  equal objects have equal bytes.
"""

import operator
from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
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

from apimachinery.model.field_checks import check_field
from apimachinery.model.markers import MapType, Markers
from apimachinery.model.type_shape import ListType
from apimachinery.model.wire_rules import (
    FLAT,
    MODEL,
    MODEL_LIST,
    NULL_WHEN_EMPTY,
    copy_plan,
    never,
    omission,
    refine,
    wire_name,
)

T = TypeVar("T")


class FieldOptions(TypedDict, total=False):
    """The keyword arguments of `field`."""

    wire: str
    """The name on the wire, if it is not the camelCase of the Python name."""
    doc: str
    list_type: ListType
    list_map_keys: tuple[str, ...]
    """Wire names of the fields that identify an element; the list is then of type "map"."""
    map_type: MapType
    patch_strategy: str
    """As in Kubernetes' struct tags: "merge", "merge,retainKeys"."""
    patch_merge_key: str
    proto: int | tuple[int, ...]
    enum: tuple[str, ...]
    """The allowed values; a write with another one is refused, a client decodes any."""
    known: tuple[str, ...]
    """The known values: described, not enforced, or enforced by the kind's own validation."""
    publish_enum: bool
    """Whether OpenAPI publishes the values as an `enum`, which clients may enforce; by default
    those of `enum`, but not those of `known`."""
    immutable: bool
    """Whether updates may not change the value."""
    selectable: bool
    """Whether field selectors can select by the value; for strings, integers and booleans that
    are not in a list or map."""
    deprecated: str
    """The warning for clients that set the field: "since v1; use spec.new", "use spec.new"."""
    omit_empty: bool
    """Overrides the omission rule."""
    null_when_empty: bool
    """Whether an empty list is encoded as null, as by Go without `omitempty`."""
    required: bool
    """Whether OpenAPI shows the field as required; by default if it is encoded even if empty.
    Validation, not the decoder, rejects a document without it."""
    published_default: Any
    """The default that OpenAPI shows, where the server's defaulting sets it and not the class."""
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
    """Declare a field of a Model; a field without a default is required."""
    constraints: dict[str, Any] = {name: options[name] for name in _CONSTRAINTS if name in options}  # type: ignore[literal-required]
    if default_factory is not None:
        constraints["default_factory"] = default_factory
    else:
        constraints["default"] = default
    if options.get("omit_empty"):
        constraints["exclude_if"] = operator.not_
    elif "omit_empty" in options or options.get("null_when_empty"):
        constraints["exclude_if"] = never
    info: FieldInfo = Field(
        alias=options.get("wire"), description=options.get("doc"), **constraints
    )
    info.metadata.append(_markers(options))
    if options.get("null_when_empty"):
        info.metadata.append(NULL_WHEN_EMPTY)
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
        known=options.get("known", ()),
        publish_enum=options.get("publish_enum"),
        immutable=options.get("immutable", False),
        selectable=options.get("selectable", False),
        required=options.get("required"),
        published_default=options.get("published_default"),
        deprecated=options.get("deprecated", ""),
        bounds=tuple((name, options[name]) for name in _CONSTRAINTS if name in options),  # type: ignore[literal-required]
    )


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class ModelType(ModelMetaclass):
    """The class of Model classes, so that `lenient_construction` can replace their constructor."""


# If `field` were a field specifier, type checkers would require the keyword `default=`.
@dataclass_transform(kw_only_default=True, field_specifiers=())
class Model(BaseModel, metaclass=ModelType):
    """The base class of all versioned and internal API types."""

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
    def __pydantic_init_subclass__(cls, **config: Any) -> None:
        # Annotations that are not resolvable yet are checked when the class is compiled.
        if cls.__pydantic_fields_complete__:
            _check_fields(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        _check_fields(cls)
        for info in cls.__pydantic_fields__.values():
            if info.exclude_if is None:
                info.exclude_if = omission(info)
            info.metadata = _constraints_last(info.metadata)
        if cls.model_post_init is let_threads_run:
            _test_in_python(next(iter(cls.__pydantic_fields__.values())))
        schema = handler(source)
        refine(schema)
        return schema

    __map_type__: ClassVar[MapType | None] = None
    __definition__: ClassVar[str] = ""
    __copy_plan__: ClassVar[tuple[tuple[str, int], ...] | None] = None
    __keeps_unknown__: ClassVar[bool] = False

    def __init_subclass__(
        cls, map_type: MapType | None = None, definition: str = "", **config: Any
    ) -> None:
        """Configure a subclass; with `map_type="atomic"` it is owned and replaced as a whole.

        *definition* is its name in OpenAPI, if it belongs to another package than its module.
        """
        super().__init_subclass__(**config)
        cls.__definition__ = definition
        cls.__copy_plan__ = None  # computed on first use, never inherited
        cls.__keeps_unknown__ = cls.model_config.get("extra") == "allow"
        if map_type is not None:
            cls.__map_type__ = map_type

    def deep_copy(self) -> Self:
        """Return a copy that shares no mutable value with this object.

        The copy does not record which fields were set.
        """
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

    if not TYPE_CHECKING:  # with a `__getattr__`, type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            """Return the default of a pydantic attribute that the object was created without."""
            if name in _PYDANTIC_DEFAULTS:
                return _PYDANTIC_DEFAULTS[name]
            return super().__getattr__(name)

    __hash__: ClassVar[None]  # type: ignore[assignment]  # mutable, so unhashable

    def __repr_args__(self) -> Any:
        """Yield only the fields that would be encoded: the repr of a pod should fit a screen."""
        for name, value in super().__repr_args__():
            info = type(self).__pydantic_fields__.get(name or "")
            # Only the rule of a compiled class is in its fields.
            is_omitted = info and (info.exclude_if or omission(info))
            if not is_omitted or not is_omitted(value):
                yield name, value


def _check_fields(cls: type[Model]) -> None:
    """Raise TypeError if a field declares something that does not fit its type."""
    for name, info in cls.__pydantic_fields__.items():
        for part in info.metadata:
            if isinstance(part, Markers):
                check_field(f"{cls.__qualname__}.{name}", info, part)


def _constraints_last(metadata: list[Any]) -> list[Any]:
    """Return the metadata with the constraints of `field` after the metadata of the type.

    pydantic applies metadata in order, and puts the constraints of `field` first: then the bounds
    of an Int32 would override a narrower `ge=1`, and a Duration would replace its validator.
    """
    end = next((i + 1 for i, part in enumerate(metadata) if isinstance(part, Markers)), 0)
    return [*metadata[end:], *metadata[:end]]


def is_model(cls: Any) -> bool:
    """Return whether an annotation is a Model class."""
    return isinstance(cls, type) and issubclass(cls, Model)


def new_model(cls: type["ModelT"], values: dict[str, Any]) -> "ModelT":
    """Return an instance with *values*, which must be complete and valid: nothing is checked.

    For conversions and decoders, which build the values from validated objects.
    """
    model = cls.__new__(cls)
    _set_values(model, values)
    return model


def assign(model: "Model", **values: Any) -> None:
    """Assign several fields at once, without pydantic's steps for each; nothing is checked.

    They are not recorded as set.
    """
    model.__dict__.update(values)


class _NoFieldsSet(set[str]):
    """An immutable empty set, shared by all models that do not record which fields were set."""

    def add(self, field: str, /) -> None:
        """Ignore the field: pydantic calls this when a field of any of the models is assigned."""

    def copy(self) -> set[str]:
        return set()

    __copy__ = copy


_NO_FIELDS_SET = _NoFieldsSet()
_PYDANTIC_DEFAULTS: Final[dict[str, Any]] = {
    "__pydantic_fields_set__": _NO_FIELDS_SET,
    "__pydantic_extra__": None,
    "__pydantic_private__": None,
}
"""The attributes that pydantic expects of every model, for models created without them."""


def drop_fields_set(model: "Model") -> None:
    """Drop pydantic's record of the fields that were set, in place and in nested models.

    The record is a set in every decoded model, together about as large as the values, and nothing
    uses it. For objects that are kept in large numbers; `bulk_decode_json` creates none.
    """
    if model.__pydantic_fields_set__ is not _NO_FIELDS_SET:
        _drop_fields_set(model)


def _drop_fields_set(model: "Model") -> None:
    cls = model.__class__
    plan = cls.__copy_plan__
    if plan is None:
        plan = cls.__copy_plan__ = copy_plan(cls)
    _set_fields_set(model, _NO_FIELDS_SET)
    values = model.__dict__
    for name, depth in plan:
        value = values.get(name)  # absent if the model was constructed without the field
        if depth == MODEL and value is not None:
            _drop_fields_set(value)
        elif depth == MODEL_LIST and value:
            for item in value:
                _drop_fields_set(item)


ModelT = TypeVar("ModelT", bound=Model)

# The slots of pydantic models, set directly: `__setattr__` would look each one up by name.
_slots: Any = BaseModel.__dict__
_set_values = _slots["__dict__"].__set__
_set_fields_set = _slots["__pydantic_fields_set__"].__set__
_set_extra = _slots["__pydantic_extra__"].__set__


def let_threads_run(self: Model, context: Any, /) -> None:
    """Let other threads run, as `model_post_init` of classes of which documents have thousands.

    pydantic decodes a document in one call that lets no other thread run, except in Python code.
    It encodes one in the same way: the test whether to omit the first field of such a class is in
    Python as well.
    """


class _PythonTest:
    """A test whether to omit a field, in Python."""

    def __init__(self, is_omitted: Callable[[Any], bool]) -> None:
        self._is_omitted = is_omitted

    def __call__(self, value: Any) -> bool:
        return self._is_omitted(value)


def _test_in_python(info: FieldInfo) -> None:
    if not isinstance(info.exclude_if, _PythonTest):
        info.exclude_if = _PythonTest(info.exclude_if or never)


def deep_copy(value: T) -> T:
    """Copy any value that a Model can hold; immutable values are shared."""
    cls = type(value)
    if cls is dict:
        return cast(T, {key: deep_copy(item) for key, item in cast(Any, value).items()})
    if cls is list:
        return cast(T, [deep_copy(item) for item in cast(Any, value)])
    # Looked up by attribute: `isinstance` with a pydantic class is ten times slower.
    copier = getattr(value, "deep_copy", None)
    return value if copier is None else copier()


def _copy_model(model: ModelT) -> ModelT:
    # The plan of the class lists the mutable fields, so that scalars cost nothing: an object like a
    # pod has a hundred fields, and every read-modify-write copies it.
    cls = model.__class__
    plan = cls.__copy_plan__
    if plan is None:
        plan = cls.__copy_plan__ = copy_plan(cls)
    values = model.__dict__.copy()
    for name, depth in plan:
        value = values[name]
        if value is None:
            continue
        if depth == FLAT:
            values[name] = value.copy()
        elif depth == MODEL:
            values[name] = _copy_model(value)
        elif depth == MODEL_LIST:
            values[name] = [_copy_model(item) for item in value]
        else:
            values[name] = deep_copy(value)
    copy = cls.__new__(cls)
    _set_values(copy, values)
    if cls.__keeps_unknown__:
        _set_extra(copy, deep_copy(model.__pydantic_extra__))
    return copy
