"""Markers: what a field declares beyond its type, in the metadata of its annotation."""

from dataclasses import dataclass
from typing import Any, Literal

from apimachinery.model.type_shape import ListType

MapType = Literal["granular", "atomic"]


@dataclass(frozen=True, slots=True)
class Markers:
    """Properties of a field beyond its type: list keys, merging, protobuf number, rules."""

    list_type: ListType | None = None
    list_map_keys: tuple[str, ...] = ()
    map_type: MapType | None = None
    patch_strategy: tuple[str, ...] = ()
    patch_merge_key: str = ""
    proto: int | tuple[int, ...] | None = None
    """The protobuf number. A tuple is a path through messages that JSON does not show, where Go
    inlines a struct: (2, 5) is field 5 of the message in field 2."""
    enum: tuple[str, ...] = ()
    """The allowed values: documented in OpenAPI, and enforced when a write is validated."""
    known: tuple[str, ...] = ()
    """The known values: described in OpenAPI, not enforced."""
    publish_enum: bool | None = None
    """Whether OpenAPI publishes the values as an `enum`, if the field says so."""
    immutable: bool = False
    """Whether updates may not change the value."""
    selectable: bool = False
    """Whether field selectors can select by the value."""
    required: bool | None = None
    """Whether OpenAPI shows the field as required, if the field says so."""
    published_default: Any = None
    """The default that OpenAPI shows, if it is not the one of the class."""
    deprecated: str = ""
    """The deprecation notice; empty if the field is not deprecated."""
    bounds: tuple[tuple[str, Any], ...] = ()
    """The bounds that the field declares, such as ("ge", 0); pydantic enforces them."""


NO_MARKERS = Markers()
