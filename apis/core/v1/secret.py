"""Secret: confidential data by key."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.scalars.wire_types import Bytes

OPAQUE: Final = "Opaque"
SERVICE_ACCOUNT_TOKEN: Final = "kubernetes.io/service-account-token"
DOCKERCFG: Final = "kubernetes.io/dockercfg"
DOCKER_CONFIG_JSON: Final = "kubernetes.io/dockerconfigjson"
BASIC_AUTH: Final = "kubernetes.io/basic-auth"
SSH_AUTH: Final = "kubernetes.io/ssh-auth"
TLS: Final = "kubernetes.io/tls"


class Secret(Object):
    """Secret holds secret data, such as a password, a key or a token."""

    data: dict[str, Bytes] = field(
        default_factory=dict, proto=2, doc="Secret data as bytes by key."
    )
    type: str = field(
        "", proto=3, doc="Type of the data; well-known types require certain keys. Immutable."
    )
    string_data: dict[str, str] = field(
        default_factory=dict,
        proto=4,
        doc="Write-only convenience: texts by key that are merged into `data`.",
    )
    immutable: bool | None = field(
        None, proto=5, doc="Whether the data is immutable; once true, it cannot be reset."
    )


def merge_string_data(secret: Secret) -> None:
    """Move `stringData` into `data`, overwriting equal keys."""
    for key, text in secret.string_data.items():
        secret.data[key] = text.encode("utf-8", "surrogatepass")
    secret.string_data = {}
