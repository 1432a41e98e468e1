"""Lenient decoding: stored JSON -> Model, without constraints.

Constraints are for writes. An object that was accepted once stays readable when its type becomes
narrower: bounds, patterns, enumerations and required fields are not checked, and only a value whose
type is wrong cannot be decoded. `salvage` decodes the rest of such an object.
"""

import json
import math
from typing import Any, Final, TypeAlias

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from apimachinery.fieldpath import Path
from apimachinery.lenient.lenient_schema import careful_validator, lenient_validator
from apimachinery.lenient.lenient_values import PARSER_ERRORS
from apimachinery.model.decoding import MAX_DEPTH, DecodeError, ModelT, to_decode_error
from apimachinery.model.fail_fast import is_large

Location: TypeAlias = tuple[int | str, ...]


def decode_leniently(cls: type[ModelT], data: bytes | str) -> ModelT:
    """Decode JSON bytes to an object of *cls*, without constraints.

    A missing field that is required gets the zero value of its type; a null counts as absent.
    Raises DecodeError for invalid JSON and for values of the wrong type.
    """
    try:
        obj: ModelT = lenient_validator(cls).validate_json(data, by_alias=True, by_name=False)
    except PARSER_ERRORS:
        return _decode_carefully(cls, data)
    return obj


def _decode_carefully(cls: type[ModelT], data: bytes | str) -> ModelT:
    encoded = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    validator = careful_validator(cls, fail_fast=is_large(encoded))
    try:
        obj: ModelT = validator.validate_json(encoded, by_alias=True, by_name=False)
    except ValidationError as error:
        problems = error.errors(include_url=False)
    else:
        return obj
    if problems[0]["type"] == "json_invalid":
        raise DecodeError(str(problems[0]["ctx"]["error"]))
    raise DecodeError(str(to_decode_error(cls, problems)))


def salvage(cls: type[ModelT], document: dict[str, Any]) -> tuple[ModelT, tuple[str, ...]]:
    """Decode what can be decoded of a document, and return it with messages about the rest.

    The fields and list elements that have the wrong type are left out; where that is not enough,
    the objects that contain them. *document* is not changed.
    """
    messages: list[str] = []
    remaining = _copy_json(document, (), messages)
    validator = careful_validator(cls)
    while True:
        data = json.dumps(_without_removed(remaining))
        try:
            obj: ModelT = validator.validate_json(data, by_alias=True, by_name=False)
        except ValidationError as error:
            problems = error.errors(include_url=False)
        else:
            return obj, tuple(messages)
        if not remaining:
            raise DecodeError(str(to_decode_error(cls, problems)))  # the class has no zero value
        for location, problem in _deepest(remaining, problems).items():
            messages.append(_message(cls, location, problem))
            _remove(remaining, location)


_REMOVED: Final = object()
"""Takes the place of a removed list element, so that the others keep their positions."""


def _copy_json(value: Any, location: Location, messages: list[str]) -> Any:
    """Copy what can be written as JSON and parsed again; add messages about the rest."""
    if isinstance(value, dict) and len(location) < MAX_DEPTH:
        copies = {
            key: _copy_json(item, (*location, key), messages)
            for key, item in value.items()
            if _is_plain(key) and isinstance(key, str)
        }
        return {key: item for key, item in copies.items() if item is not _REMOVED}
    if isinstance(value, list) and len(location) < MAX_DEPTH:
        return [_copy_json(item, (*location, i), messages) for i, item in enumerate(value)]
    if _is_plain(value):
        return value
    messages.append(f"{_path(location)}: cannot be written as JSON")
    return _REMOVED


def _is_plain(value: Any) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return isinstance(value, int) and value.bit_length() < 1024
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def _without_removed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_removed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_removed(item) for item in value if item is not _REMOVED]
    return value


def _deepest(document: Any, problems: list[ErrorDetails]) -> dict[Location, ErrorDetails]:
    """Return the problems by location, without those that are about a parent of another.

    A union reports a problem for each of its types; the deepest one is most likely the reason.
    """
    located: dict[Location, ErrorDetails] = {}
    for problem in problems:
        located.setdefault(_locate(document, problem["loc"]), problem)
    parents = {location[:length] for location in located for length in range(len(location))}
    return {at: problem for at, problem in located.items() if at not in parents}


def _locate(document: Any, steps: Location) -> Location:
    """Return the location in the document; pydantic's steps also name the types of unions."""
    location: list[int | str] = []
    value = document
    for step in steps:
        if isinstance(value, list) and isinstance(step, int):
            present = [i for i, item in enumerate(value) if item is not _REMOVED]
            if step >= len(present):
                break
            step = present[step]
        elif not isinstance(value, dict) or step not in value:
            continue
        location.append(step)
        value = value[step]
    return tuple(location)


def _remove(document: dict[str, Any], location: Location) -> None:
    if not location:
        document.clear()
        return
    *parents, last = location
    parent: Any = document
    for step in parents:
        parent = parent[step]
    if isinstance(parent, dict):
        del parent[last]
    else:
        parent[last] = _REMOVED


def _message(cls: type[BaseModel], location: Location, problem: ErrorDetails) -> str:
    path = _path(location)
    reason = str(to_decode_error(cls, [{**problem, "loc": location}])).removeprefix("json: ")
    return reason if reason.startswith(f"{path}: ") else f"{path}: {reason}"


def _path(location: Location) -> Path:
    path = Path()
    for step in location:
        path = path.index(step) if isinstance(step, int) else path.child(step)
    return path
