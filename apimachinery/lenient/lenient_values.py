"""Lenient values: what a lenient schema accepts, or creates, where the class has a rule.

Zero values for missing fields, any value of the right JSON type for a Literal, unknown members of
an Enum, nulls, and calls of the functions of users that cannot fail in unexpected ways.
"""

from collections.abc import Callable
from enum import Enum
from functools import cached_property, partial
from typing import Any, Final

from pydantic_core import MISSING, PydanticUseDefault, SchemaValidator, core_schema

_BUGS: Final = (ArithmeticError, AttributeError, LookupError, TypeError)
PARSER_ERRORS: Final = (ValueError, AssertionError, *_BUGS)
"""What parsers of wire types raise; all but the first two only if they do not check the type."""

_JSON_TYPES: Final[dict[type, Any]] = {
    str: core_schema.str_schema(strict=True),
    bool: core_schema.bool_schema(strict=True),
    int: core_schema.int_schema(strict=True),
    float: core_schema.float_schema(strict=True),
    type(None): core_schema.none_schema(),
}


class SchemaPart:
    """A part of a lenient schema, compiled by itself when it is first used.

    The definitions are complete then, and most fields are never missing or null.
    """

    def __init__(self, schema: Any, definitions: list[Any]) -> None:
        self._schema = schema
        self._definitions = definitions

    def zero(self) -> Any:
        """Return the zero value of the type: the first of JSON's zeros that it decodes.

        If there is none, return pydantic's MISSING: the field is left out when it is encoded. The
        function that encodes the type could not encode a None.
        """
        return self._decode(self._zero) if self._zero else MISSING

    def field_value(self, value: Any) -> Any:
        """Return the value; for a null that the type refuses, the default of the field."""
        if value is not None:
            return value
        if self._decodes("null"):
            return self._decode("null")
        raise PydanticUseDefault

    def element_value(self, value: Any) -> Any:
        """Return the value; for a null that the type refuses, its zero."""
        try:
            return self.field_value(value)
        except PydanticUseDefault:
            if self._zero:
                return self.zero()
        raise ValueError("must not be null")

    @cached_property
    def _zero(self) -> str:
        if self._schema["type"] in ("any", "nullable", "none"):
            return "null"
        return next(filter(self._decodes, _ZEROS), "")

    def _decodes(self, data: str) -> bool:
        try:
            self._decode(data)
        except PARSER_ERRORS:
            return False
        return True

    def _decode(self, data: str) -> Any:
        return self._validator.validate_json(data, by_alias=True, by_name=False)

    @cached_property
    def _validator(self) -> SchemaValidator:
        return new_validator(self._schema, self._definitions)


_MAX_UNKNOWN_MEMBERS: Final = 1000
"""How many unknown members of an Enum are kept: clients choose the values."""

_ZEROS: Final = (
    *("0", '""', "false", "[]", "{}"),
    # Durations, and Go's zero times: they can be encoded and compared, which a None cannot.
    *('"0s"', '"PT0S"', '"0001-01-01T00:00:00Z"', '"0001-01-01"'),
)


def new_validator(schema: Any, definitions: list[Any]) -> SchemaValidator:
    if definitions:
        schema = core_schema.definitions_schema(schema, definitions)
    # For a class that is complete, pydantic would reuse the validator with the constraints.
    return SchemaValidator(schema, core_schema.CoreConfig(strict=True), _use_prebuilt=False)


def open_literal(schema: dict[str, Any]) -> Any:
    """Return the schema of any value that has the JSON type of one of the members."""
    members = schema["expected"]
    kinds = _json_types(members)
    if any(type(member) not in _JSON_TYPES for member in members):
        return _first_of([schema, *kinds], kinds)
    return kinds[0] if len(kinds) == 1 else _first_of(kinds, kinds)


def open_enum(schema: dict[str, Any]) -> Any:
    """Return the schema of the members, and of unknown values that have the JSON type of one."""
    kinds = _json_types(schema["members"])
    create = partial(_unknown_member, schema["cls"])
    unknown = [core_schema.no_info_after_validator_function(create, kind) for kind in kinds]
    return _first_of([schema, *unknown], kinds)


def _json_types(members: list[Any]) -> list[Any]:
    values = [member.value if isinstance(member, Enum) else member for member in members]
    kinds = dict.fromkeys(type(value) for value in values)
    return [_JSON_TYPES[kind] for kind in kinds if kind in _JSON_TYPES]


def _first_of(choices: list[Any], kinds: list[Any]) -> Any:
    return core_schema.union_schema(
        choices,
        mode="left_to_right",
        custom_error_type="wrong_type",
        custom_error_message="must be of type " + " or ".join(kind["type"] for kind in kinds),
    )


def _unknown_member(cls: type[Enum], value: Any) -> Enum:
    """Return a value of *cls* that is not one of its members, as Python creates unknown flags.

    It is encoded like a member, and has a value and a name as code that uses the class expects.
    """
    unknown: dict[Any, Enum] | None = cls.__dict__.get("__unknown_members__")
    if unknown is None:
        unknown = {}
        type.__setattr__(cls, "__unknown_members__", unknown)
    # Members are compared by identity, so there is one per value.
    if value not in unknown:
        if len(unknown) >= _MAX_UNKNOWN_MEMBERS:
            unknown.clear()
        data_type: Any = cls._member_type_  # type: ignore[attr-defined]
        member = object.__new__(cls) if data_type is object else data_type.__new__(cls, value)
        member._name_, member._value_ = str(value), value
        unknown[value] = member
    return unknown[value]


def tolerate(rule: Callable[..., Any], value: Any, *info: Any) -> Any:
    try:
        return rule(value, *info)
    except PARSER_ERRORS:
        return value


def guard(parse: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return parse(*arguments)
    except _BUGS as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
