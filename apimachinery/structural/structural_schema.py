"""Schema: a structural schema, compiled once to prune, default and validate values.

Values are plain JSON and are changed in place. Callers pass a whole resource without its metadata,
which has a type of its own, unless the schema validates metadata (`Schema.reads_metadata`).
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from apimachinery.extras import name_missing_extra
from apimachinery.fieldpath import FieldError, FieldErrors, Path, invalid
from apimachinery.meta.unstructured import dump_content
from apimachinery.model.type_shape import StructShape
from apimachinery.ratcheting import new_errors
from apimachinery.structural.defaulting import (
    Allowance,
    Fill,
    compile_defaulting,
    count_nodes,
    multiplies_defaults,
)
from apimachinery.structural.implied_rules import Inspect, compile_embedded, compile_unique
from apimachinery.structural.problems import is_blocking
from apimachinery.structural.pruning import compile_pruning
from apimachinery.structural.schema_node import JSONSchema, SchemaNode, parse_node, root_shape
from apimachinery.structural.schema_validation import (
    ABSENT,
    MAX_PROBLEMS,
    compile_validation,
)

if TYPE_CHECKING:
    from apimachinery.cel.validation_rules import RuleNode

_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_LIST_TYPE: Final = "x-kubernetes-list-type"
_RULES: Final = "x-kubernetes-validations"
_MARKERS: Final = (_EMBEDDED, _LIST_TYPE, _RULES)
_COST_PER_VALUE: Final = 150
"""The cost of CEL rules in the time that other steps take for one value: 5 µs."""
_MAX_EFFORT: Final = 3_000 * _COST_PER_VALUE
_WHOLE: Final = Path()
_RULES_SKIPPED: Final = invalid(
    _WHOLE,
    None,
    "some validation rules were not checked because the object was invalid; correct the existing"
    " errors to complete validation",
)


class Schema:
    """A compiled `openAPIV3Schema`, which must be structural (see `structural_rules`)."""

    def __init__(self, source: JSONSchema, *, root: bool = True) -> None:
        """Parse *source*; *root* is False for a part of a schema, which has no metadata."""
        self.source = source
        self.node: SchemaNode = parse_node(source)
        self._root = root
        self._prune = compile_pruning(self.node, root=root)
        self._fill_defaults = compile_defaulting(self.node)
        self._validate = compile_validation(source)

    def compile(self) -> None:
        """Compile now what else would be compiled for the first value, such as CEL rules."""
        _ = self._may_grow, self._embedded, self._unique, self.reads_metadata, self._rules

    @cached_property
    def reads_metadata(self) -> bool:
        """Whether validation requires the metadata of a resource."""
        return self._root and _reads_metadata(self.source)

    @cached_property
    def _fill_beside_nulls(self) -> Fill | None:
        return compile_defaulting(self.node, keep_nulls=True)

    @cached_property
    def _may_grow(self) -> bool:
        return multiplies_defaults(self.source)

    @cached_property
    def _markers(self) -> frozenset[str]:
        """The markers anywhere in the schema: large schemas are searched only for these."""
        text = dump_content(self.source)
        return frozenset(marker for marker in _MARKERS if b'"%b"' % marker.encode() in text)

    @cached_property
    def _embedded(self) -> Inspect | None:
        return compile_embedded(self.node) if _EMBEDDED in self._markers else None

    @cached_property
    def _unique(self) -> Inspect | None:
        return compile_unique(self.node) if _LIST_TYPE in self._markers else None

    @cached_property
    def _rules(self) -> "RuleNode | None":
        return _compile_rules(self.node, root=self._root) if _RULES in self._markers else None

    def prune(self, value: Any) -> list[str]:
        """Drop unknown fields; return their paths, sorted."""
        if self._prune is None:
            return []
        dropped: list[str] = []
        self._prune(value, "", dropped)
        return sorted(dropped)

    def default(self, value: Any, *, keep_nulls: bool = False) -> None:
        """Fill in the defaults of absent fields; raise DefaultsTooLarge if they are too large.

        A null that the schema does not allow is dropped, unless *keep_nulls*.
        """
        fill = self._fill_beside_nulls if keep_nulls else self._fill_defaults
        if fill is not None:
            fill(value, Allowance())

    def effort(self, value: Any) -> int:
        """Return how many values a write processes that the document of *value* may lack.

        The cost of CEL rules counts as values that take the same time.
        """
        values = count_nodes(value) if self._may_grow else 0
        if self._rules is not None:
            values = max(values, self._rules.cost(value, _MAX_EFFORT) // _COST_PER_VALUE)
        return values

    def validate(self, value: Any, old: Any = ABSENT) -> Iterator[FieldError]:
        """Yield all errors of a value that replaces *old*."""
        errors = self.check_keywords(value, old)
        yield from errors
        yield from self.check_rules(value, old, errors)

    def check_keywords(self, value: Any, old: Any = ABSENT) -> list[FieldError]:
        """Return the errors of a value by the keywords of the schema, without its CEL rules."""
        errors = [problem.error() for problem in self._validate(value, old)]
        if self._embedded is not None:
            before = self._embedded(old, _WHOLE) if old is not ABSENT else ()
            found = islice(self._embedded(value, _WHOLE), MAX_PROBLEMS)
            errors += new_errors(found, islice(before, MAX_PROBLEMS))
        if self._unique is not None:
            duplicates = list(islice(self._unique(value, _WHOLE), MAX_PROBLEMS))
            # As in Kubernetes, an object that had duplicates may have others.
            if duplicates and (old is ABSENT or not any(self._unique(old, _WHOLE))):
                errors += duplicates
        return errors

    def check_rules(self, value: Any, old: Any, errors: Iterable[FieldError]) -> FieldErrors:
        """Yield the errors of a value by the CEL rules of the schema.

        The rules are skipped if *errors*, found before, show that they cannot be evaluated.
        """
        if self._rules is None:
            return
        if any(map(is_blocking, errors)):
            yield _RULES_SKIPPED
        else:
            yield from self._rules.check(value, old)

    def validate_at(self, value: Any, path: Path) -> FieldErrors:
        """Yield all errors of a value that is a part of another one, such as a default."""
        for problem in self._validate(value, ABSENT):
            yield problem.error(path)
        if self._embedded is not None:
            yield from islice(self._embedded(value, path), MAX_PROBLEMS)

    def shape(self, kind: str) -> StructShape:
        """Return the shape of resources of this schema, for server-side apply."""
        return root_shape(self.node, kind)


def structural_of(cls: type[Any]) -> Schema | None:
    """Return the schema of a custom resource class, or None for other classes."""
    return cls.__dict__.get("__structural__")


def _compile_rules(node: SchemaNode, *, root: bool) -> "RuleNode | None":
    # Imported on first use: few schemas have rules, and the CEL library is large.
    with name_missing_extra():
        from apimachinery.cel.validation_rules import compile_rules

    return compile_rules(node, root=root)


def _reads_metadata(source: JSONSchema) -> bool:
    """Return whether validation depends on the content of metadata."""
    metadata = (source.get("properties") or {}).get("metadata") or {}
    keywords = {key for key in metadata if key not in ("type", "description")}
    return bool(keywords) or any(source.get(name) for name in _WHOLE_VALUE_KEYWORDS)


_WHOLE_VALUE_KEYWORDS: Final = (
    "maxProperties",
    "minProperties",
    "enum",
    _RULES,
)
