"""The shape of a type: all that patches and field ownership need to know of it.

Strategic merge patch and server-side apply work on plain JSON values. What they must know of the
type behind a value (which lists are keyed, which maps are replaced whole) is a `Shape`. A Model
class has one (`apimachinery.model.model.shape_of`), and so can a type that exists only as an
OpenAPI schema at run time; neither algorithm knows the difference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

ListType = Literal["atomic", "set", "map"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, number, boolean or anything else that is only ever replaced whole."""


@dataclass(frozen=True, slots=True)
class Untyped:
    """A value of no declared type: inside it maps are granular and lists are atomic."""


@dataclass(frozen=True, slots=True)
class ListShape:
    items: "Shape"
    type: ListType = "atomic"
    """How server-side apply sees the list: x-kubernetes-list-type."""
    keys: tuple[str, ...] = ()
    """Wire names of the fields that identify an element of a list of type "map"."""
    key_defaults: Mapping[str, Any] = field(default_factory=dict)
    """Values a key field has when an element leaves it out (`protocol: TCP`)."""
    patch_strategy: frozenset[str] = frozenset()
    """How strategic merge patch sees it: any of "merge", "replace", "retainKeys"."""
    patch_merge_key: str = ""


@dataclass(frozen=True, slots=True)
class MapShape:
    """A map from strings to values of one shape."""

    values: "Shape"
    atomic: bool = False
    patch_strategy: frozenset[str] = frozenset()


class StructShape:
    """An object with declared fields, found on first use so that types may be recursive."""

    def __init__(
        self,
        name: str,
        find_fields: Callable[[], Mapping[str, "Shape"]],
        *,
        atomic: bool = False,
        preserves_unknown: bool = False,
        patch_strategy: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        self.atomic = atomic
        self.preserves_unknown = preserves_unknown
        """Fields that are not declared are kept, and are Untyped."""
        self.patch_strategy = patch_strategy
        self._find_fields = find_fields

    @cached_property
    def fields(self) -> Mapping[str, "Shape"]:
        """Wire name -> shape."""
        return self._find_fields()

    def __repr__(self) -> str:
        return f"StructShape({self.name!r})"


Shape = Scalar | Untyped | ListShape | MapShape | StructShape
