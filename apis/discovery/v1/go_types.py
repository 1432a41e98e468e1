"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "EndpointPort.protocol": "v1.Protocol",
    "EndpointSlice.addressType": "v1.AddressType",
}
