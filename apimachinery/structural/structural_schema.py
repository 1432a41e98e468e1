"""Schema: a structural schema, compiled once to prune, default and validate values.

Values are plain JSON and are changed in place. Callers pass a whole resource without its metadata,
which has a type of its own, unless the schema validates metadata (`Schema.reads_metadata`).
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import orjson

from apimachinery.extras import name_missing_extra
from apimachinery.fieldpath import FieldError, FieldErrors, Path, invalid
from apimachinery.model.type_shape import StructShape
from apimachinery.ratcheting import new_errors
from apimachinery.structural.defaulting import compile_defaulting
from apimachinery.structural.implied_rules import compile_embedded, compile_unique
from apimachinery.structural.problems import is_blocking
from apimachinery.structural.pruning import compile_pruning
from apimachinery.structural.schema_node import JSONSchema, Node, parse_node, root_shape
from apimachinery.structural.schema_validation import ABSENT, compile_validation

if TYPE_CHECKING:
    from apimachinery.cel.validation_rules import CheckRules

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
        """Compile *source*; *root* is False for a part of a schema, which has no metadata."""
        self.source = source
        self.node: Node = parse_node(source)
        self._prune = compile_pruning(self.node, root=root)
        self._fill_defaults = compile_defaulting(self.node)
        self._validate = compile_validation(source)
        self._embedded = compile_embedded(self.node)
        self._unique = compile_unique(self.node)
        self.reads_metadata = root and _reads_metadata(source)
        """Whether validation requires the metadata of a resource."""
        self._check_rules = _compile_rules(self.node, root=root)

    def prune(self, value: Any) -> list[str]:
        """Drop unknown fields; return their paths, sorted."""
        if self._prune is None:
            return []
        dropped: list[str] = []
        self._prune(value, "", dropped)
        return sorted(dropped)

    def default(self, value: Any) -> None:
        """Fill in the defaults of absent fields."""
        if self._fill_defaults is not None:
            self._fill_defaults(value)

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
            errors += new_errors(self._embedded(value, _WHOLE), before)
        if self._unique is not None:
            duplicates = list(self._unique(value, _WHOLE))
            # As in Kubernetes, an object that had duplicates may have others.
            if duplicates and (old is ABSENT or not any(self._unique(old, _WHOLE))):
                errors += duplicates
        return errors

    def check_rules(self, value: Any, old: Any, errors: Iterable[FieldError]) -> FieldErrors:
        """Yield the errors of a value by the CEL rules of the schema.

        The rules are skipped if *errors*, found before, show that they cannot be evaluated.
        """
        if self._check_rules is None:
            return
        if any(map(is_blocking, errors)):
            yield _RULES_SKIPPED
        else:
            yield from self._check_rules(value, old, _WHOLE, False)

    def validate_at(self, value: Any, path: Path) -> FieldErrors:
        """Yield all errors of a value that is a part of another one, such as a default."""
        for problem in self._validate(value, ABSENT):
            yield problem.error(path)

    def shape(self, kind: str) -> StructShape:
        """Return the shape of resources of this schema, for server-side apply."""
        return root_shape(self.node, kind)


def structural_of(cls: type[Any]) -> Schema | None:
    """Return the schema of a custom resource class, or None for other classes."""
    return cls.__dict__.get("__structural__")


def _compile_rules(node: Node, *, root: bool) -> "CheckRules | None":
    if b'"x-kubernetes-validations"' not in orjson.dumps(node.source):
        return None
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
    "x-kubernetes-validations",
)
