"""Lenient schemas: the pydantic schema of a Model without its constraints.

A class has one validator for writes, which pydantic compiled, and a second one for stored bytes,
compiled here from the same schema. The second one accepts whatever has the right JSON type: a bound
that was narrowed, a Literal that lost a member or a field that became required must not make an
object unreadable.

**Rules and parsers.** In a core schema both are functions. A function is a rule if it is declared
by `@field_validator` or `@model_validator`, if it is the function of an `AfterValidator`,
`WrapValidator` or `BeforeValidator` in the annotation of a field, or if pydantic added it for a
constraint that the type does not implement (`ge` of a Duration). Every other function, and that of
a `PlainValidator`, is a parser: it comes from the `__get_pydantic_core_schema__` of a type and
turns JSON into the value of a wire type (Quantity, Time, Bytes, the types of users). It is kept.

Rules that run after or around decoding are dropped, and so are `__init__` and `model_post_init`.
Rules that run before it may translate an older form of the value, so they are called, but a value
that they refuse is passed on unchanged.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, WrapValidator
from pydantic_core import SchemaValidator, core_schema

from apimachinery.lenient.lenient_values import (
    SchemaPart,
    guard,
    new_validator,
    open_enum,
    open_literal,
    tolerate,
)

_CONSTRAINTS: Final = frozenset(
    (
        *("ge", "gt", "le", "lt", "multiple_of", "max_digits", "decimal_places"),
        *("min_length", "max_length", "pattern", "now_op", "now_utc_offset", "tz_constraint"),
    )
)
_KEPT_POST_INITS: Final = ("init_private_attributes", "let_threads_run")
_STR_LIMITS: Final = ("str_min_length", "str_max_length")
_FIELDS: Final = ("model-field", "dataclass-field", "typed-dict-field")


def lenient_validator(cls: type[BaseModel]) -> SchemaValidator:
    """Return the validator of *cls* without constraints; a missing field gets a zero value.

    It stops at the first invalid item of a list or map.
    """
    return _cached(cls, "__lenient_validator__", careful=False, fail_fast=True)


def careful_validator(cls: type[BaseModel], *, fail_fast: bool = False) -> SchemaValidator:
    """Return a slower `lenient_validator` that also handles nulls and parsers that misbehave.

    A null that the type of a field refuses counts as absent, that of a list element or map value
    as the zero of its type.
    """
    name = "__hasty_validator__" if fail_fast else "__careful_validator__"
    return _cached(cls, name, careful=True, fail_fast=fail_fast)


def _cached(cls: type[BaseModel], name: str, *, careful: bool, fail_fast: bool) -> SchemaValidator:
    cached: SchemaValidator | None = cls.__dict__.get(name)
    if cached is None:
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        cached = _LenientSchema(cls.__pydantic_core_schema__, careful, fail_fast).compile()
        type.__setattr__(cls, name, cached)
    return cached


class _LenientSchema:
    """Copies a core schema without constraints and rules."""

    def __init__(self, schema: Any, careful: bool, fail_fast: bool) -> None:
        self._schema = schema
        self._careful = careful
        self._fail_fast = fail_fast
        self._originals = {part["ref"]: part for part in schema.get("definitions", ())}
        self._definitions: list[Any] = []
        self._rules: set[int] = set()
        self._told_apart: set[type] = set()
        """Models that a union tells from each other, perhaps by the value of a Literal."""
        for part in _parts(schema):
            if part["type"] in ("model", "dataclass"):
                self._rules.update(id(_unbound(rule)) for rule in _rules(part["cls"]))
            elif part["type"] == "union":
                models = [cls for choice in _choices(part) if (cls := self._model(choice))]
                self._told_apart.update(models if len(models) > 1 else ())

    def compile(self) -> SchemaValidator:
        for ref, part in self._originals.items():
            self._definitions.append({**self._copy(part), "ref": ref})
        inner = self._schema["schema"] if self._originals else self._schema
        return new_validator(self._copy(inner), self._definitions)

    def _copy(self, schema: Any, literals: bool = True) -> Any:
        kind = schema["type"]
        if self._is_dropped(schema):
            return self._copy(schema["schema"], literals)
        if kind == "literal":
            return open_literal(schema) if literals else schema
        literals = schema.get("cls") not in self._told_apart if kind == "model" else literals
        # Only definitions are referred to; another ref would clash when a part is compiled alone.
        copied = {
            key: _map(part, partial(self._copy, literals=literals)) if _is_nested(key) else part
            for key, part in schema.items()
            if key != "ref" and key not in _CONSTRAINTS
        }
        return self._adjust(copied)

    def _adjust(self, schema: dict[str, Any]) -> Any:
        kind = schema["type"]
        if kind in ("model", "dataclass"):
            return self._model_schema(schema)
        if kind in _FIELDS:
            return self._field(schema)
        if kind == "enum":
            return open_enum(schema)
        if "function" in schema and isinstance(schema["function"], dict):
            return self._function(schema)
        if self._careful:
            for key in ("items_schema", "values_schema"):
                if isinstance(schema.get(key), dict):
                    element = SchemaPart(schema[key], self._definitions)
                    schema[key] = _nullable(schema[key], element.element_value)
        if schema.get("extra_behavior") == "forbid":
            schema["extra_behavior"] = "ignore"
        if self._fail_fast and kind in ("list", "dict"):
            schema["fail_fast"] = True
        return schema

    def _model_schema(self, schema: dict[str, Any]) -> Any:
        config = {k: v for k, v in schema.get("config", {}).items() if k not in _STR_LIMITS}
        if config.get("extra_fields_behavior") == "forbid":
            config["extra_fields_behavior"] = "ignore"
        # An `__init__` of the class would validate again, with constraints.
        schema |= {"config": config, "custom_init": False}
        post_init = getattr(schema["cls"], "model_post_init", None)
        if getattr(post_init, "__name__", "") not in _KEPT_POST_INITS:
            schema.pop("post_init", None)
        return schema

    def _field(self, field_schema: dict[str, Any]) -> Any:
        inner = field_schema["schema"]
        if inner["type"] != "default" or not {"default", "default_factory"} & inner.keys():
            inner = self._with_zero(inner)
        elif self._careful:
            part = SchemaPart(inner["schema"], self._definitions)
            inner = {**inner, "schema": _nullable(inner["schema"], part.field_value)}
        if field_schema["type"] == "typed-dict-field":
            field_schema["required"] = False
        return {**field_schema, "schema": inner}

    def _with_zero(self, schema: Any) -> Any:
        inner = schema
        # A rule that runs before decoding would translate the zero.
        while inner["type"] == "function-before" and _is_call_of(tolerate, inner):
            inner = inner["schema"]
        part = SchemaPart(inner, self._definitions)
        decoder = _nullable(schema, part.field_value) if self._careful else schema
        return core_schema.with_default_schema(decoder, default_factory=part.zero)

    def _function(self, schema: dict[str, Any]) -> Any:
        function = schema["function"]["function"]
        if schema["type"] == "function-before" and self._is_rule(schema):
            call: Any = partial(tolerate, function)
        elif self._careful:
            call = partial(guard, function)
        else:
            return schema
        return {**schema, "function": {**schema["function"], "function": call}}

    def _is_dropped(self, schema: dict[str, Any]) -> bool:
        match schema["type"]:
            case "function-after":
                return self._is_rule(schema)
            case "function-wrap":
                # JSON has no instances of classes: without the function nothing could be decoded.
                return schema["schema"]["type"] != "is-instance" and self._is_rule(schema)
            case _:
                return False

    def _is_rule(self, schema: dict[str, Any]) -> bool:
        function = schema["function"]["function"]
        return id(_unbound(function)) in self._rules or _is_constraint(function)

    def _model(self, schema: Any) -> type | None:
        """Return the class that a schema is of, if it is a Model."""
        if schema["type"] == "definition-ref":
            schema = self._originals[schema["schema_ref"]]
        while "schema" in schema and schema["type"] != "model":
            schema = schema["schema"]
        return schema["cls"] if schema["type"] == "model" else None


def _rules(cls: type) -> Iterator[Any]:
    """Yield the functions that a class declares as validators."""
    decorators: Any = getattr(cls, "__pydantic_decorators__", None)
    for kind in ("field_validators", "model_validators", "validators", "root_validators"):
        for decorator in getattr(decorators, kind, {}).values():
            yield decorator.func
    for info in getattr(cls, "__pydantic_fields__", {}).values():
        yield from _annotated_rules((info.annotation, *info.metadata))


def _annotated_rules(annotations: tuple[Any, ...]) -> Iterator[Any]:
    for annotation in annotations:
        if isinstance(annotation, AfterValidator | BeforeValidator | WrapValidator):
            yield annotation.func
        else:
            yield from _annotated_rules(get_args(annotation))


def _is_call_of(wrapper: Any, schema: dict[str, Any]) -> bool:
    function = schema["function"]["function"]
    return isinstance(function, partial) and function.func is wrapper


def _unbound(function: Any) -> Any:
    return getattr(function, "__func__", function)


def _is_constraint(function: Any) -> bool:
    """Return whether pydantic added the function for a constraint, such as `ge` or a Predicate."""
    if isinstance(function, partial):
        from_pydantic = function.func.__module__.startswith("pydantic.")
        return from_pydantic and function.keywords.keys() <= _CONSTRAINTS
    return getattr(function, "__module__", "") == "pydantic._internal._known_annotated_metadata"


def _nullable(schema: Any, replace_null: Callable[[Any], Any]) -> Any:
    nullable = core_schema.nullable_schema(schema)
    return core_schema.no_info_after_validator_function(replace_null, nullable)


def _choices(union: dict[str, Any]) -> Iterator[Any]:
    for choice in union["choices"]:
        yield choice[0] if isinstance(choice, tuple) else choice


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema in a core schema."""
    if isinstance(schema, list | tuple):
        for part in schema:
            yield from _parts(part)
    elif isinstance(schema, dict):
        if _is_schema(schema):
            yield schema
        for key, part in schema.items():
            if not _is_schema(schema) or _is_nested(key):
                yield from _parts(part)


def _map(schemas: Any, change: Callable[[Any], Any]) -> Any:
    """Change a schema, or the schemas in a list, a map or a pair of schema and label."""
    if isinstance(schemas, list | tuple):
        return type(schemas)(_map(part, change) for part in schemas)
    if not isinstance(schemas, dict):
        return schemas
    if _is_schema(schemas):
        return change(schemas)
    return {key: _map(part, change) for key, part in schemas.items()}


def _is_schema(value: dict[str, Any]) -> bool:
    # A map of fields may have one called "type", which is a schema, not a name.
    return isinstance(value.get("type"), str)


def _is_nested(key: str) -> bool:
    """Return whether a key of a core schema has schemas for its value."""
    return key in ("schema", "fields", "choices", "steps", "definitions") or key.endswith("_schema")
