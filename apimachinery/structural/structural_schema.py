"""Schema: everything that is done by a structural schema, compiled once.

Values are plain JSON and are changed in place. A whole resource is given without its metadata,
which is typed elsewhere, unless the schema has something to say about that, too.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import orjson

from apimachinery.extras import name_missing_extra
from apimachinery.fieldpath import FieldError, FieldErrors, Path, invalid
from apimachinery.model.type_shape import StructShape
from apimachinery.structural.defaulting import compile_fill
from apimachinery.structural.implied_rules import compile_embedded, compile_unique
from apimachinery.structural.node import JSONSchema, Node, parse_node
from apimachinery.structural.problems import is_blocking
from apimachinery.structural.pruning import compile_prune
from apimachinery.structural.schema_shape import root_shape
from apimachinery.structural.schema_validation import ABSENT, compile_validation

if TYPE_CHECKING:
    from apimachinery.cel.validation_rules import Ask

_WHOLE: Final = Path()
_NOT_ASKED: Final = invalid(
    _WHOLE,
    None,
    "some validation rules were not checked because the object was invalid; correct the existing"
    " errors to complete validation",
)


class Schema:
    """One `openAPIV3Schema` at work; it must be structural (see `structural_rules`)."""

    def __init__(self, source: JSONSchema, *, root: bool = True) -> None:
        """*root* is False for a part of a schema, which has no metadata of its own."""
        self.source = source
        self.node: Node = parse_node(source)
        self._prune = compile_prune(self.node, root=root)
        self._fill = compile_fill(self.node)
        self._validate = compile_validation(source)
        self._embedded = compile_embedded(self.node)
        self._unique = compile_unique(self.node)
        self.reads_metadata = root and _reads_metadata(source)
        """Whether metadata must be part of what is validated."""
        self._ask = _compiled_rules(self.node, root=root)

    def prune(self, value: Any) -> list[str]:
        """Drop what is unknown; returns the paths of what was dropped, in order."""
        if self._prune is None:
            return []
        dropped: list[str] = []
        self._prune(value, "", dropped)
        return sorted(dropped)

    def default(self, value: Any) -> None:
        """Fill in what is missing."""
        if self._fill is not None:
            self._fill(value)

    def validate(self, value: Any, old: Any = ABSENT) -> Iterator[FieldError]:
        """Everything wrong with a value that is to take the place of *old*."""
        found = self.check(value, old)
        yield from found
        yield from self.ask(value, old, found)

    def check(self, value: Any, old: Any = ABSENT) -> list[FieldError]:
        """What is wrong with a value by the keywords of the schema."""
        found = [problem.error() for problem in self._validate(value, old)]
        if self._embedded is not None:
            found += self._embedded(value, _WHOLE)
        if self._unique is not None:
            found += self._unique(value, _WHOLE)
        return found

    def ask(self, value: Any, old: Any, found: Iterable[FieldError]) -> FieldErrors:
        """What is wrong with a value by the rules of the schema, if *found* lets them be asked."""
        if self._ask is None:
            return
        if any(map(is_blocking, found)):
            yield _NOT_ASKED
        else:
            yield from self._ask(value, old, _WHOLE)

    def validate_at(self, value: Any, path: Path) -> FieldErrors:
        """Everything wrong with a value that is part of something else, such as a default."""
        for problem in self._validate(value, ABSENT):
            yield problem.error(path)

    def shape(self, kind: str) -> StructShape:
        """How field ownership sees resources of this schema."""
        return root_shape(self.node, kind)


def structural_of(cls: type[Any]) -> Schema | None:
    """The schema behind a class, if it was made of one."""
    return cls.__dict__.get("__structural__")


def _compiled_rules(node: Node, *, root: bool) -> "Ask | None":
    if b'"x-kubernetes-validations"' not in orjson.dumps(node.source):
        return None
    # Imported on first use: few schemas have rules, and what runs them is large.
    with name_missing_extra():
        from apimachinery.cel.validation_rules import compile_rules

    return compile_rules(node, root=root)


def _reads_metadata(source: JSONSchema) -> bool:
    """Whether validating by a schema looks at more of metadata than that it is an object."""
    about = (source.get("properties") or {}).get("metadata") or {}
    inside = {key for key in about if key not in ("type", "description")}
    return bool(inside) or any(source.get(name) for name in _OF_THE_WHOLE)


_OF_THE_WHOLE: Final = ("maxProperties", "minProperties", "enum", "x-kubernetes-validations")
