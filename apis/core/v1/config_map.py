"""ConfigMap: configuration data, as text or bytes by key."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.scalars.wire_types import Bytes


class ConfigMap(Object):
    """ConfigMap holds configuration data for programs to consume."""

    data: dict[str, str] = field(
        default_factory=dict,
        proto=2,
        doc="Configuration data as text by key; keys must not overlap with `binaryData`.",
    )
    binary_data: dict[str, Bytes] = field(
        default_factory=dict,
        proto=3,
        doc="Configuration data as bytes by key; keys must not overlap with `data`.",
    )
    immutable: bool | None = field(
        None, proto=4, doc="Whether the data is immutable; once true, it cannot be reset."
    )
