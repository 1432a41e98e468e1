"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "BoundObjectReference.uid": "types.UID",
    "TokenRequestSpec.attestations": "map[string]v1.AttestationValue",
    "UserInfo.extra": "map[string]v1.ExtraValue",
}
