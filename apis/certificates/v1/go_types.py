"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "CertificateSigningRequestCondition.status": "v1.ConditionStatus",
    "CertificateSigningRequestCondition.type": "v1.RequestConditionType",
    "CertificateSigningRequestSpec.extra": "map[string]v1.ExtraValue",
    "CertificateSigningRequestSpec.usages": "[]v1.KeyUsage",
    "PodCertificateRequestSpec.nodeName": "types.NodeName",
    "PodCertificateRequestSpec.nodeUID": "types.UID",
    "PodCertificateRequestSpec.podUID": "types.UID",
    "PodCertificateRequestSpec.serviceAccountUID": "types.UID",
}
