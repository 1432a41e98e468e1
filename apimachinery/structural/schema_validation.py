"""Validating values: one function for each place of a schema, and for each alternative in it.

On an update a part that has not changed is not asked again: what was stored before a rule became
stricter can still be written, as long as nobody touches it (ratcheting). Alternatives are asked
as a whole, since whether one holds is a matter of all its parts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from apimachinery.structural.node import JSONSchema
from apimachinery.structural.problems import (
    Problem,
    Problems,
    about_the_whole,
    item,
    member,
    missing,
)
from apimachinery.structural.value_checks import (
    Check,
    compile_enum,
    compile_type,
    json_type,
    same,
    scalar_checks,
    size_checks,
)

Validate = Callable[[Any, Any], Problems]
"""From a value, and what was in its place before or ABSENT, to everything wrong with it."""


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""There was nothing before, or nobody can tell which part it was."""

_NOTHING: Final[Problems] = []


def compile_validation(schema: JSONSchema) -> Validate:
    """What finds everything wrong with values of *schema*."""
    check_type = compile_type(schema)
    by_type = _by_type(schema)
    check_enum = compile_enum(schema)
    composite = list(_composites(schema))

    def validate(value: Any, old: Any) -> Problems:
        if old is not ABSENT and same(value, old):
            return _NOTHING
        found: Problems = []
        if check_type is not None and (problem := check_type(value)):
            found.append(problem)
        if value is not None:
            for part in composite:
                found += part(value, old)
        for step in by_type.get(json_type(value), ()):
            found += step(value, old)
        if check_enum is not None and (problem := check_enum(value)):
            found.append(problem)
        return found

    return validate


def _by_type(schema: JSONSchema) -> Mapping[str, Sequence[Validate]]:
    found: dict[str, list[Validate]] = {}
    for types, check in scalar_checks(schema):
        for name in types:
            found.setdefault(name, []).append(_of_one(check))
    for name, steps in (("array", _array(schema)), ("object", _object(schema))):
        if collected := list(steps):
            found[name] = collected
    return found


def _of_one(check: Check) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        problem = check(value)
        return _NOTHING if problem is None else [problem]

    return validate


def _array(schema: JSONSchema) -> Iterator[Validate]:
    for check in size_checks(schema, "Items"):
        yield _of_one(check)
    items = schema.get("items")
    if isinstance(items, Mapping):
        keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
        keyed = schema.get("x-kubernetes-list-type") == "map"
        yield _each_item(compile_validation(items), keys if keyed else ())


def _each_item(below: Validate, keys: tuple[str, ...]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        before = _keyed(old, keys) if keys and isinstance(old, list) else {}
        found: Problems = []
        for position, one in enumerate(value):
            previous = before.get(_key(one, keys), ABSENT) if before else ABSENT
            if problems := below(one, previous):
                found += [problem.below(item(position)) for problem in problems]
        return found

    return validate


def _keyed(items: list[Any], keys: tuple[str, ...]) -> dict[Any, Any]:
    return {_key(one, keys): one for one in items if isinstance(one, dict)}


def _key(one: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(one, dict):
        return None
    return tuple(str(one.get(key)) for key in keys)


def _object(schema: JSONSchema) -> Iterator[Validate]:
    for check in size_checks(schema, "Properties"):
        yield _of_one(check)
    if needed := schema.get("required"):
        yield _required(needed)
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    if properties:
        yield _each_property(
            {name: compile_validation(part) for name, part in sorted(properties.items())}
        )
    if isinstance(additional, Mapping):
        yield _each_other(compile_validation(additional), frozenset(properties))


def _required(names: list[str]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        return [Problem(missing, None, member(name)) for name in names if name not in value]

    return validate


def _each_property(below: Mapping[str, Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        before = old if isinstance(old, dict) else _EMPTY
        found: Problems = []
        for name, check in below.items():
            if name not in value:
                continue
            if problems := check(value[name], before.get(name, ABSENT)):
                found += [problem.below(member(name)) for problem in problems]
        return found

    return validate


def _each_other(below: Validate, declared: frozenset[str]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        before = old if isinstance(old, dict) else _EMPTY
        found: Problems = []
        for name, one in value.items():
            if name in declared:
                continue
            if problems := below(one, before.get(name, ABSENT)):
                found += [problem.below(member(name)) for problem in problems]
        return found

    return validate


_EMPTY: Final[dict[str, Any]] = {}


def _composites(schema: JSONSchema) -> Iterator[Validate]:
    if parts := schema.get("anyOf"):
        yield _any_of([compile_validation(part) for part in parts])
    if parts := schema.get("oneOf"):
        yield _one_of([compile_validation(part) for part in parts])
    if parts := schema.get("allOf"):
        yield _all_of([compile_validation(part) for part in parts])
    if (part := schema.get("not")) is not None:
        yield _none_of(compile_validation(part))


_AT_LEAST_ONE: Final = about_the_whole('"{path}" must validate at least one schema (anyOf)')
_ONE: Final = '"{path}" must validate one and only one schema (oneOf). Found '
_NO_ONE: Final = about_the_whole(f"{_ONE}none valid")
_ALL: Final = about_the_whole('"{path}" must validate all the schemas (allOf)')
_NO_ALL: Final = about_the_whole('"{path}" must validate all the schemas (allOf). None validated')
_NOT: Final = about_the_whole('"{path}" must not validate the schema (not)')


def _any_of(parts: list[Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        first: Problems = []
        for part in parts:
            problems = part(value, ABSENT)
            if not problems:
                return _NOTHING
            first = first or problems
        return [Problem(_AT_LEAST_ONE, None), *first]

    return validate


def _one_of(parts: list[Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        outcomes = [part(value, ABSENT) for part in parts]
        valid = sum(not problems for problems in outcomes)
        if valid == 1:
            return _NOTHING
        if valid == 0:
            return [Problem(_NO_ONE, None), *outcomes[0]]
        return [Problem(about_the_whole(f"{_ONE}{valid} valid alternatives"), None)]

    return validate


def _all_of(parts: list[Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        outcomes = [part(value, ABSENT) for part in parts]
        valid = sum(not problems for problems in outcomes)
        if valid == len(parts):
            return _NOTHING
        found = [problem for problems in outcomes for problem in problems]
        return [*found, Problem(_ALL if valid else _NO_ALL, None)]

    return validate


def _none_of(part: Validate) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        return _NOTHING if part(value, ABSENT) else [Problem(_NOT, None)]

    return validate
