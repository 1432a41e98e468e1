"""Printer columns of custom resources: cells are looked up by JSONPath."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.scalars.time import parse_time
from apimachinery.structural.custom_kind import CustomResource
from apimachinery.structural.jsonpath import Find, InvalidJSONPath, parse_path
from apiserver.extensions.definition import ColumnDefinition
from apiserver.views.table import NAME, Column

log = logging.getLogger(__name__)

_INVALID: Final = "<invalid>"
AGE: Final = ColumnDefinition("Age", "date", ".metadata.creationTimestamp")


def table_columns(definitions: Iterable[ColumnDefinition]) -> tuple[Column, ...]:
    """Return all columns of a custom resource; the default after the name is the age.

    As in Kubernetes, columns from the first on whose path cannot be understood are left out.
    """
    columns = [NAME]
    for definition in tuple(definitions) or (AGE,):
        try:
            columns.append(_column(definition))
        except InvalidJSONPath as error:
            log.warning("printer column %r: its path %s", definition.name, error)
            break
    return tuple(columns)


def _column(definition: ColumnDefinition) -> Column:
    default = f"Custom resource definition column (in JSONPath format): {definition.path}"
    return Column(
        definition.name,
        _cell(definition),
        type=definition.type,
        format=definition.format,
        priority=definition.priority,
        description=definition.description or default,
    )


def _cell(definition: ColumnDefinition) -> Callable[[CustomResource], Any]:
    find: Find = parse_path(definition.path)
    # Metadata is a model; it is dumped to JSON only for columns that may show it.
    in_content = definition.path.startswith((".spec", ".status"))
    convert = _CONVERSIONS[definition.type]

    def cell(obj: CustomResource) -> Any:
        document = obj.content if in_content else _document(obj)
        values = find(document)
        return convert(values[0]) if values and values[0] is not None else None

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
