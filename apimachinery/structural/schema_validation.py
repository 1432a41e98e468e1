"""Validation of values by the keywords of a schema, compiled to one function per node.

Updates are ratcheting: parts that have not changed are not validated, so an object that was stored
before a rule became stricter can still be updated, as long as the invalid part stays unchanged.
Alternatives (`anyOf` and so on) are always validated as a whole, because whether one matches
depends on all its parts.

The time is linear in the size of the value, except for alternatives, each of which is validated for
each item of a list. That product is limited, and so is the number of problems that are reported.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from apimachinery.structural.problems import (
    Problem,
    Problems,
    error_without_field,
    forbidden_property,
    invalid_value,
    item_step,
    member_step,
    missing_field,
)
from apimachinery.structural.schema_node import JSONSchema
from apimachinery.structural.value_checks import (
    Check,
    compile_enum,
    compile_type,
    equal_json,
    json_type,
    scalar_checks,
    size_checks,
)

Validate = Callable[[Any, Any], Problems]
"""Returns all problems of a value, given the old value in its place or ABSENT."""


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Stands for the old value if there is none, or if it cannot be identified."""

MAX_PROBLEMS: Final = 1_000
"""The number of problems after which validation of a value stops."""
MAX_ALTERNATIVES: Final = 1_000_000
"""The maximum number of alternatives that the items of one list or map are validated against."""

_NOTHING: Final[Problems] = []


def compile_validation(schema: JSONSchema) -> Validate:
    """Compile the validation of values of *schema*."""
    check_type = compile_type(schema)
    by_type = _compile_by_type(schema)
    check_enum = compile_enum(schema)
    composites = list(_compile_composites(schema))

    def validate(value: Any, old: Any) -> Problems:
        if old is not ABSENT and equal_json(value, old):
            return _NOTHING
        problems: Problems = []
        if check_type is not None and (problem := check_type(value)):
            problems.append(problem)
        if value is not None:
            for composite in composites:
                problems += composite(value, old)
        for validate_typed in by_type.get(json_type(value), ()):
            problems += validate_typed(value, old)
        if check_enum is not None and (problem := check_enum(value)):
            problems.append(problem)
        return problems

    return validate


def _compile_by_type(schema: JSONSchema) -> Mapping[str, Sequence[Validate]]:
    by_type: dict[str, list[Validate]] = {}
    for types, check in scalar_checks(schema):
        for name in types:
            by_type.setdefault(name, []).append(_compile_check(check))
    for name, validations in (
        ("array", _compile_array(schema)),
        ("object", _compile_object(schema)),
    ):
        if collected := list(validations):
            by_type[name] = collected
    return by_type


def _compile_check(check: Check) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        problem = check(value)
        return _NOTHING if problem is None else [problem]

    return validate


def _compile_array(schema: JSONSchema) -> Iterator[Validate]:
    for check in size_checks(schema, "Items"):
        yield _compile_check(check)
    items = schema.get("items")
    if isinstance(items, Mapping):
        keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
        keyed = schema.get("x-kubernetes-list-type") == "map"
        yield _compile_items(_Element(items), keys if keyed else ())


class _Element:
    """The validation of list items or map values, compiled with the first of them."""

    __slots__ = ("_alternatives", "_schema", "compiled")

    def __init__(self, schema: JSONSchema) -> None:
        self._schema = schema
        self.compiled: Validate | None = None
        self._alternatives = -1

    def compile(self) -> Validate:
        self.compiled = compile_validation(self._schema)
        return self.compiled

    def too_complex(self, count: int) -> Problems:
        """Return the problem of too many items with alternatives, if there is one."""
        if self._alternatives < 0:
            self._alternatives = _count_alternatives(self._schema)
        if count * self._alternatives <= MAX_ALTERNATIVES:
            return _NOTHING
        rule = f"should have at most {MAX_ALTERNATIVES // self._alternatives} items"
        return [Problem(invalid_value(f"{rule} that are validated by alternatives"), count)]


_MANY_ITEMS: Final = 10


def _compile_items(element: _Element, keys: tuple[str, ...]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        if not value:
            return _NOTHING
        if len(value) >= _MANY_ITEMS and (problem := element.too_complex(len(value))):
            return problem
        below = element.compiled or element.compile()
        before = _index_by_keys(old, keys) if keys and isinstance(old, list) else {}
        problems: Problems = []
        for position, item in enumerate(value):
            previous = before.get(_key_values(item, keys), ABSENT) if before else ABSENT
            if item_problems := below(item, previous):
                problems += [problem.below(item_step(position)) for problem in item_problems]
                if len(problems) > MAX_PROBLEMS:
                    break
        return problems

    return validate


def _count_alternatives(schema: JSONSchema) -> int:
    """Return how many alternatives a value of *schema* may be validated against."""
    parts = [part for keyword in ("anyOf", "oneOf", "allOf") for part in schema.get(keyword) or ()]
    negated = schema.get("not")
    parts += [] if negated is None else [negated]
    below = [schema.get("items"), schema.get("additionalProperties")]
    below += (schema.get("properties") or {}).values()
    nested = [part for part in below if isinstance(part, Mapping)]
    return len(parts) + sum(map(_count_alternatives, parts + nested))


def _index_by_keys(items: list[Any], keys: tuple[str, ...]) -> dict[Any, Any]:
    return {_key_values(item, keys): item for item in items if isinstance(item, dict)}


def _key_values(item: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(item, dict):
        return None
    return tuple(str(item.get(key)) for key in keys)


def _compile_object(schema: JSONSchema) -> Iterator[Validate]:
    for check in size_checks(schema, "Properties"):
        yield _compile_check(check)
    if required := schema.get("required"):
        yield _compile_required(required)
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    if properties:
        yield _compile_properties(properties)
    if isinstance(additional, Mapping):
        yield _compile_undeclared(_Element(additional), frozenset(properties))
    elif additional is False:
        yield _compile_closed(frozenset(properties))


def _compile_required(names: list[str]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        missing = (name for name in names if name not in value)
        return [
            Problem(missing_field, None, member_step(name))
            for name in islice(missing, MAX_PROBLEMS)
        ]

    return validate


class _Members(dict[str, Validate]):
    """The validations of properties, each compiled on first use: a schema may have thousands."""

    def __init__(self, properties: Mapping[str, JSONSchema]) -> None:
        super().__init__()
        self._properties = properties

    def __missing__(self, name: str) -> Validate:
        compiled = self[name] = compile_validation(self._properties[name])
        return compiled


def _compile_properties(properties: Mapping[str, JSONSchema]) -> Validate:
    below, declared = _Members(properties), dict.fromkeys(sorted(properties))

    def validate(value: Any, old: Any) -> Problems:
        before = old if isinstance(old, dict) else _EMPTY
        problems: Problems = []
        # A large schema must not cost its size for every small item of a list.
        few = len(declared) <= 4 * len(value) + 8
        for name in declared if few else sorted(declared.keys() & value.keys()):
            if name not in value:
                continue
            if member_problems := below[name](value[name], before.get(name, ABSENT)):
                problems += [problem.below(member_step(name)) for problem in member_problems]
                if len(problems) > MAX_PROBLEMS:
                    break
        return problems

    return validate


def _compile_undeclared(element: _Element, declared: frozenset[str]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        if not value:
            return _NOTHING
        if len(value) >= _MANY_ITEMS and (problem := element.too_complex(len(value))):
            return problem
        below = element.compiled or element.compile()
        before = old if isinstance(old, dict) else _EMPTY
        problems: Problems = []
        for name, member in value.items():
            if name in declared:
                continue
            if member_problems := below(member, before.get(name, ABSENT)):
                problems += [problem.below(member_step(name)) for problem in member_problems]
                if len(problems) > MAX_PROBLEMS:
                    break
        return problems

    return validate


def _compile_closed(declared: frozenset[str]) -> Validate:
    """Compile the check of a value without other fields, which fields of `anyOf` can demand."""

    def validate(value: Any, old: Any) -> Problems:
        others = (name for name in value if name not in declared)
        return [Problem(forbidden_property, name) for name in islice(others, MAX_PROBLEMS)]

    return validate


_EMPTY: Final[dict[str, Any]] = {}


def _compile_composites(schema: JSONSchema) -> Iterator[Validate]:
    if parts := schema.get("anyOf"):
        yield _compile_any_of([compile_validation(part) for part in parts])
    if parts := schema.get("oneOf"):
        yield _compile_one_of([compile_validation(part) for part in parts])
    if parts := schema.get("allOf"):
        yield _compile_all_of([compile_validation(part) for part in parts])
    if (part := schema.get("not")) is not None:
        yield _compile_not(compile_validation(part))


_ANY_OF: Final = error_without_field('"{path}" must validate at least one schema (anyOf)')
_ONE_OF: Final = '"{path}" must validate one and only one schema (oneOf). Found '
_ONE_OF_NONE: Final = error_without_field(f"{_ONE_OF}none valid")
_ALL_OF: Final = error_without_field('"{path}" must validate all the schemas (allOf)')
_ALL_OF_NONE: Final = error_without_field(
    '"{path}" must validate all the schemas (allOf). None validated'
)
_NOT: Final = error_without_field('"{path}" must not validate the schema (not)')


def _compile_any_of(parts: list[Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        first: Problems = []
        for part in parts:
            problems = part(value, ABSENT)
            if not problems:
                return _NOTHING
            first = first or problems
        return [Problem(_ANY_OF, None), *first]

    return validate


def _compile_one_of(parts: list[Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        outcomes = [part(value, ABSENT) for part in parts]
        valid = sum(not problems for problems in outcomes)
        if valid == 1:
            return _NOTHING
        if valid == 0:
            return [Problem(_ONE_OF_NONE, None), *outcomes[0]]
        return [Problem(error_without_field(f"{_ONE_OF}{valid} valid alternatives"), None)]

    return validate


def _compile_all_of(parts: list[Validate]) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        outcomes = [part(value, ABSENT) for part in parts]
        valid = sum(not problems for problems in outcomes)
        if valid == len(parts):
            return _NOTHING
        all_problems = (problem for problems in outcomes for problem in problems)
        return [
            *islice(all_problems, MAX_PROBLEMS),
            Problem(_ALL_OF if valid else _ALL_OF_NONE, None),
        ]

    return validate


def _compile_not(part: Validate) -> Validate:
    def validate(value: Any, old: Any) -> Problems:
        return _NOTHING if part(value, ABSENT) else [Problem(_NOT, None)]

    return validate
