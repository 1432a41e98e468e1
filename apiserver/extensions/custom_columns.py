"""Columns of custom resources: cells that are looked up by their paths."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.scalars.time import parse_time
from apimachinery.structural.custom_kind import CustomResource
from apimachinery.structural.jsonpath import Find, parse_path
from apiserver.extensions.definition import ColumnDefinition
from apiserver.views.table import NAME, Column

_INVALID: Final = "<invalid>"
AGE: Final = ColumnDefinition("Age", "date", ".metadata.creationTimestamp")


def table_columns(definitions: Iterable[ColumnDefinition]) -> tuple[Column, ...]:
    """All columns of a custom resource; one that defines none shows the age."""
    own = tuple(definitions) or (AGE,)
    return (NAME, *map(_column, own))


def _column(definition: ColumnDefinition) -> Column:
    said = f"Custom resource definition column (in JSONPath format): {definition.path}"
    return Column(
        definition.name,
        _cell(definition),
        type=definition.type,
        format=definition.format,
        priority=definition.priority,
        description=definition.description or said,
    )


def _cell(definition: ColumnDefinition) -> Callable[[CustomResource], Any]:
    find: Find = parse_path(definition.path)
    # Metadata is typed, and written as JSON only for the columns that are about it.
    in_content = definition.path.startswith((".spec", ".status"))
    convert = _CONVERSIONS[definition.type]

    def cell(obj: CustomResource) -> Any:
        document = obj.content if in_content else _document(obj)
        found = find(document)
        return convert(found[0]) if found and found[0] is not None else None

    return cell


def _document(obj: CustomResource) -> dict[str, Any]:
    return {**obj.content, "metadata": orjson.loads(dump_json(obj.metadata))}


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case dict() | list():
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        case _:
            return str(value)


def _integer(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _date(value: Any) -> datetime | str | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_time(value)
    except ValueError:
        return _INVALID


_CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
