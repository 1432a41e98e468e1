"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

EMBEDDED: Final[Mapping[str, tuple[str, ...]]] = {
    "IngressRule": ("IngressRuleValue",),
}

GO_TYPES: Final[Mapping[str, str]] = {
    "HTTPIngressPath.pathType": "v1.PathType",
    "IngressPortStatus.protocol": "v1.Protocol",
    "NetworkPolicyPort.protocol": "v1.Protocol",
    "NetworkPolicySpec.policyTypes": "[]v1.PolicyType",
}
