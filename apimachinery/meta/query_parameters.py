"""Query parameters: convert query strings to request options and back.

The server loads the parameters that the client dumps, so one marshmallow schema per kind of
options defines both directions. Strings are converted by Kubernetes' rules: unknown parameters are
ignored, the first of several values counts (all of them for a list), and a flag is false only if it
is absent, `0` or `false`, so that `?watch` starts a watch.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

from marshmallow import EXCLUDE, Schema, ValidationError, fields, missing

from apimachinery.errors import BadRequest
from apimachinery.fieldpath import quote
from apimachinery.meta.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    ObjectSelector,
    PatchOptions,
    TableOptions,
    UpdateOptions,
)
from apimachinery.model.wire_rules import wire_name
from apimachinery.scalars.wire_types import INT64_MAX, INT64_MIN
from apimachinery.selectors import InvalidSelector

Query: TypeAlias = Mapping[str, Sequence[str]]
"""Parameter -> its values in order, as from `urllib.parse.parse_qs` with `keep_blank_values`."""

OptionsT = TypeVar(
    "OptionsT",
    ListOptions,
    GetOptions,
    CreateOptions,
    UpdateOptions,
    PatchOptions,
    DeleteOptions,
    TableOptions,
)


def load(kind: type[OptionsT], query: Query) -> OptionsT:
    """Load the options of one kind; raises BadRequest, also for malformed selectors."""
    options = _load(kind, query)
    if isinstance(options, ListOptions) and (options.label_selector or options.field_selector):
        _parse_selectors(options)
    return options


def load_list(query: Query) -> tuple[ListOptions, ObjectSelector]:
    """Load the options of a list together with its parsed selectors; raises BadRequest."""
    options = _load(ListOptions, query)
    return options, _parse_selectors(options)


def dump(options: OptionsT) -> dict[str, list[str]]:
    """Return the query parameters of options, sorted by name; unset options are omitted."""
    return dict(sorted(_schema(type(options)).dump(options).items()))


def _load(kind: type[OptionsT], query: Query) -> OptionsT:
    if not query:
        return kind()
    try:
        values = _schema(kind).load(query)
    except ValidationError as error:
        # Kubernetes reports only the first malformed parameter, in the order of the fields.
        messages = next(iter(error.messages_dict.values()))
        raise BadRequest(messages[0]) from None
    return kind(**values)


def _parse_selectors(options: ListOptions) -> ObjectSelector:
    try:
        return options.selection()
    except InvalidSelector as error:
        raise BadRequest(error.reason) from None


class _Parameter(fields.Field[Any]):
    """One parameter: a sequence of strings in the query, one value in the options.

    An *optional* parameter is omitted only if it is None, any other also if it is zero.
    """

    def __init__(self, *, optional: bool = False, attribute: str | None = None) -> None:
        super().__init__(attribute=attribute)
        self.optional = optional

    def parse(self, values: Sequence[str]) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> list[str]:
        return [str(value)]

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        return self.parse(value) if value else missing

    def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> Any:
        unset = value is None if self.optional else not value
        return missing if unset else self.write(value)


class _Text(_Parameter):
    def parse(self, values: Sequence[str]) -> str:
        return _check_utf8(values[0])


class _Precondition(_Text):
    """A string of the preconditions; an empty value counts as absent."""

    def __init__(self, name: str) -> None:
        super().__init__(attribute=f"preconditions.{name}")

    def parse(self, values: Sequence[str]) -> Any:
        return super().parse(values) or missing


class _Texts(_Parameter):
    def parse(self, values: Sequence[str]) -> list[str]:
        return [_check_utf8(value) for value in values]

    def write(self, value: Any) -> list[str]:
        return list(value)


class _Flag(_Parameter):
    def parse(self, values: Sequence[str]) -> bool:
        return values[0] != "0" and values[0].casefold() != "false"

    def write(self, value: Any) -> list[str]:
        return ["true" if value else "false"]


class _Integer(_Parameter):
    def parse(self, values: Sequence[str]) -> int:
        return _parse_int(values[0])


class _Parameters(Schema):
    """A schema with wire names that ignores unknown parameters."""

    class Meta:
        unknown = EXCLUDE

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        field_obj.data_key = wire_name(field_name)


class _ListParameters(_Parameters):
    label_selector = _Text()
    field_selector = _Text()
    watch = _Flag()
    allow_watch_bookmarks = _Flag()
    resource_version = _Text()
    resource_version_match = _Text()
    timeout_seconds = _Integer(optional=True)
    limit = _Integer()
    continue_ = _Text()
    send_initial_events = _Flag(optional=True)


class _GetParameters(_Parameters):
    resource_version = _Text()


class _WriteParameters(_Parameters):
    dry_run = _Texts()
    field_manager = _Text()
    field_validation = _Text()


class _PatchParameters(_WriteParameters):
    force = _Flag(optional=True)


class _DeleteParameters(_Parameters):
    grace_period_seconds = _Integer(optional=True)
    orphan_dependents = _Flag(optional=True)
    propagation_policy = _Text(optional=True)
    dry_run = _Texts()
    ignore_store_read_error_with_cluster_breaking_potential = _Flag(optional=True)
    uid = _Precondition("uid")
    resource_version = _Precondition("resource_version")


class _TableParameters(_Parameters):
    include_object = _Text()


_SCHEMAS: Final[Mapping[type[Any], type[_Parameters]]] = {
    ListOptions: _ListParameters,
    GetOptions: _GetParameters,
    CreateOptions: _WriteParameters,
    UpdateOptions: _WriteParameters,
    PatchOptions: _PatchParameters,
    DeleteOptions: _DeleteParameters,
    TableOptions: _TableParameters,
}


@cache
def _schema(kind: type[Any]) -> _Parameters:
    """Return the schema of one kind of options; creating one is expensive, so it is cached."""
    return _SCHEMAS[kind]()


def _check_utf8(text: str) -> str:
    """Reject text from invalid UTF-8, which could not be encoded in a response."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValidationError(f"invalid UTF-8 in parameter {quote(text)}") from None
    return text


_NUMBER: Final = re.compile(r"[+-]?([0-9]*)", re.ASCII)
_UINT64_MAX: Final = 2**64 - 1


def _parse_int(text: str) -> int:
    """Parse an int64 like Go's strconv, with its error messages."""
    match = _NUMBER.match(text)
    digits = match[1].lstrip("0") if match else ""
    # Go detects an overflow of 64 bits before it checks the characters that follow.
    if len(digits) > 20 or int(digits or "0") > _UINT64_MAX:
        raise _number_error(text, "value out of range")
    if not match or not match[1] or match.end() != len(text):
        raise _number_error(text, "invalid syntax")
    value = -int(digits or "0") if text.startswith("-") else int(digits or "0")
    if not INT64_MIN <= value <= INT64_MAX:
        raise _number_error(text, "value out of range")
    return value


def _number_error(text: str, rule: str) -> ValidationError:
    return ValidationError(f"strconv.ParseInt: parsing {quote(text)}: {rule}")
