"""Resource check: whether verbs, subresources, selectors, columns and roles fit their class.

Each problem is one line, to which `group_check.py` adds the names of the group and the resource.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final, Literal, get_origin

from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apiserver.group import ALL_VERBS, Resource, Subresource
from apiserver.registry.status import check_status
from apiserver.views.table import AGE, NAME, Column

ROLES: Final = ("view", "edit")
COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS: Final = (
    *("byte", "date", "date-time", "double", "float", "int32", "int64", "name", "password"),
)
_PART_VERBS: Final = ("get", "patch", "update")
_HANDLED_VERBS: Final = ("create", *_PART_VERBS)
_SELECTOR_FIELDS: Final = frozenset(("match_labels", "match_expressions"))


def declaration_problems(resource: Resource) -> Iterator[str]:
    """Yield what is wrong with a resource whatever its class is."""
    yield from _unknown("verb", resource.verbs, ALL_VERBS)
    yield from _unknown("role", resource.roles, ROLES)
    if resource.answer is not None and tuple(resource.verbs) != ("create",):
        yield 'it answers reviews and stores nothing: write verbs=("create",)'
    if resource.compute is not None and not {"get", "list"} >= set(resource.verbs):
        yield 'it computes its objects and stores nothing: write verbs=("get", "list")'
    if isinstance(resource.strategy, type):
        name = resource.strategy.__name__
        yield f"its strategy is a class, not an object: write {name}()"
    yield from _column_problems(resource.columns)
    yield from _repeated("subresource", (sub.name for sub in resource.subresources))


def class_use_problems(resource: Resource) -> Iterator[str]:
    """Yield what a resource requires of its class that the class does not have.

    The class must have been built.
    """
    for sub in resource.subresources:
        for problem in _subresource_problems(resource, sub):
            yield f"subresource {sub.name!r}: {problem}"
    for label, path in resource.fields.items():
        try:
            found = field_type(resource.cls, path, wire_names=True)
        except NoSuchField as error:
            yield f"fields maps {label!r} to {path!r}: {error}"
            continue
        if found is not None and found.category != "scalar":
            yield (
                f"fields maps {label!r} to {path!r}, which is a {found.category}: field selectors"
                " compare strings, numbers and booleans, so name a field of such a type"
            )


class NoSuchField(LookupError):
    """A path that leads to no field of a class; the message names the fields there are."""


def field_type(cls: type[Any], path: str, *, wire_names: bool = False) -> TypeInfo | None:
    """Return the type of the field at a dotted path, None if the class leaves it open.

    The path has Python names, or with *wire_names* the names in JSON. Raises NoSuchField.
    """
    current, done = TypeInfo("model", cls), ""
    for step in path.split("."):
        if current.category == "map" and current.item is not None:
            current = current.item
        elif current.category == "model":
            fields = {_name(field, wire_names): field for field in fields_of(current.python)}
            if step not in fields:
                if current.python.model_config.get("extra") == "allow":
                    return None
                where = current.python.__qualname__
                raise NoSuchField(f"{where} has no field {step!r}; it has {', '.join(fields)}")
            current = fields[step].type
        elif current.category == "any":
            return None
        else:
            raise NoSuchField(f"{done} is a {current.category}, which has no fields")
        done = f"{done}.{step}" if done else step
    return None if current.category == "any" else current


def _name(field: ModelField, wire_names: bool) -> str:
    return field.wire if wire_names else field.name


def _subresource_problems(resource: Resource, sub: Subresource) -> Iterator[str]:
    if sub.handle is not None:
        yield from _unknown("verb", sub.verbs, _HANDLED_VERBS)
        return
    if sub.name not in ("status", "scale"):
        yield 'the server implements only "status" and "scale": give it a handle'
        return
    yield from _unknown("verb", sub.verbs, _PART_VERBS)
    if sub.name == "scale":
        yield from _scale_problems(resource, sub)
        return
    try:
        check_status(resource.cls)
    except TypeError as error:
        yield str(error)


def _scale_problems(resource: Resource, sub: Subresource) -> Iterator[str]:
    if issubclass(resource.cls, Unstructured):
        return
    for option in ("spec_replicas", "status_replicas"):
        yield from _scale_path(resource, option, getattr(sub, option), _is_integer, "an integer")
    if sub.selector:
        expected = "a string, a map of labels or a LabelSelector"
        yield from _scale_path(resource, "selector", sub.selector, _is_selector, expected)


def _scale_path(
    resource: Resource, option: str, path: str, fits: Any, expected: str
) -> Iterator[str]:
    if not path:
        yield f"{option} is missing: write the path of {expected} in the internal object"
        return
    try:
        found = field_type(resource.cls, path)
    except NoSuchField as error:
        yield f"{option} is {path!r}: {error}"
        return
    if found is not None and not fits(found):
        yield f"{option} is {path!r}, which is not {expected}: name a field of such a type"


def _is_integer(info: TypeInfo) -> bool:
    python = info.python
    return info.category == "scalar" and _is_subclass(python, int) and python is not bool


def _is_selector(info: TypeInfo) -> bool:
    if info.category == "model":
        return {field.name for field in fields_of(info.python)} >= _SELECTOR_FIELDS
    if info.category == "map":
        return info.item is not None and _is_text(info.item)
    return _is_text(info)


def _is_text(info: TypeInfo) -> bool:
    return info.category == "scalar" and (
        _is_subclass(info.python, (str, Enum)) or get_origin(info.python) is Literal
    )


def _is_subclass(python: Any, classes: Any) -> bool:
    return isinstance(python, type) and issubclass(python, classes)


def _column_problems(columns: tuple[Column, ...]) -> Iterator[str]:
    own = [column.name for column in columns]
    yield from _repeated("column", own)
    if AGE.name in own and NAME.name not in own:
        yield (
            f"the server adds a column {AGE.name!r} itself: remove yours, or define the column"
            f" {NAME.name!r} and thereby all columns"
        )
    for column in columns:
        yield from _unknown(f"type of column {column.name!r}:", (column.type,), COLUMN_TYPES)
        if column.format:
            yield from _unknown(
                f"format of column {column.name!r}:", (column.format,), COLUMN_FORMATS
            )
        if not callable(column.cell):
            yield (
                f"the cell of column {column.name!r} is {column.cell!r}: write a function that"
                " returns the value for an object"
            )


def _unknown(what: str, values: Iterable[str], known: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        if value not in known:
            yield f"unknown {what} {value!r}: use {_alternatives(known)}"


def _alternatives(names: tuple[str, ...]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


def _repeated(what: str, names: Iterable[str]) -> Iterator[str]:
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{what} {name!r} is declared {count} times: rename or remove all but one"
