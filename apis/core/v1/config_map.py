"""ConfigMap: configuration data, as text or bytes by key."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.scalars.wire_types import Bytes


class ConfigMap(Object):
    """A ConfigMap holds configuration that is not secret."""

    data: dict[str, str] = field(
        default_factory=dict, proto=2, doc="Texts by key; no key may also be in `binaryData`."
    )
    binary_data: dict[str, Bytes] = field(
        default_factory=dict, proto=3, doc="Bytes by key; no key may also be in `data`."
    )
    immutable: bool | None = field(
        None, proto=4, doc="Once true, neither this nor the data can be changed."
    )
