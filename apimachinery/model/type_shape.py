"""Shape: how strategic merge patch and server-side apply merge the values of a type.

Both algorithms work on plain JSON values and take the merge rules (which lists are keyed, which
maps are atomic) from a `Shape`. A Model class has one (`apimachinery.model.class_fields.shape_of`),
and so can a type that exists only as an OpenAPI schema at run time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

ListType = Literal["atomic", "set", "map"]
ScalarType = Literal["any scalar", "boolean", "numeric (int or float)", "string"]
"""What server-side apply expects of a value, in the words of its errors."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, number, boolean or other value that is replaced as a whole."""

    type: ScalarType = "any scalar"


@dataclass(frozen=True, slots=True)
class Untyped:
    """A value without a declared type: its maps are granular, its lists atomic."""


@dataclass(frozen=True, slots=True)
class ListShape:
    items: "Shape"
    type: ListType = "atomic"
    """x-kubernetes-list-type, which server-side apply uses."""
    keys: tuple[str, ...] = ()
    """Wire names of the fields that identify an element of a list of type "map"."""
    key_defaults: Mapping[str, Any] = field(default_factory=dict)
    """The defaults of key fields that an element omits (`protocol: TCP`)."""
    patch_strategy: frozenset[str] = frozenset()
    """x-kubernetes-patch-strategy, which strategic merge patch uses: any of "merge", "replace",
    "retainKeys"."""
    patch_merge_key: str = ""


@dataclass(frozen=True, slots=True)
class MapShape:
    """A map from strings to values of one shape."""

    values: "Shape"
    atomic: bool = False
    patch_strategy: frozenset[str] = frozenset()


class StructShape:
    """An object with declared fields, resolved on first use so that types may be recursive."""

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
        """Whether undeclared fields are kept, as Untyped values."""
        self.patch_strategy = patch_strategy
        self._find_fields = find_fields

    @cached_property
    def fields(self) -> Mapping[str, "Shape"]:
        """Wire name -> shape."""
        return self._find_fields()

    def __repr__(self) -> str:
        return f"StructShape({self.name!r})"


Shape = Scalar | Untyped | ListShape | MapShape | StructShape
