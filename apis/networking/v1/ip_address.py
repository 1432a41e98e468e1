"""IPAddress: one allocated address, and the object that uses it."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field

IP_FAMILY_LABEL: Final = "ipaddress.kubernetes.io/ip-family"
"""Label of an IPAddress with its family: IPv4 or IPv6."""
MANAGED_BY_LABEL: Final = "ipaddress.kubernetes.io/managed-by"
"""Label of an IPAddress with the component that allocated it."""
IP_ALLOCATOR: Final = "ipallocator.k8s.io"
"""Value of `MANAGED_BY_LABEL` for the addresses of services."""


class ParentReference(Model):
    """Reference to the object that uses an address."""

    group: str = field("", proto=1, doc="API group of the object; empty for the core group.")
    resource: str = field(
        "", proto=2, required=True, doc="Resource of the object, such as `services`. Required."
    )
    namespace: str = field(
        "", proto=3, doc="Namespace of the object; empty for cluster-scoped objects."
    )
    name: str = field("", proto=4, required=True, doc="Name of the object. Required.")


class IPAddressSpec(Model):
    """Owner of an IPAddress."""

    parent_ref: ParentReference | None = field(
        None,
        proto=1,
        required=True,
        doc="Object that uses the address, such as a Service. Required and immutable.",
    )


class IPAddress(Object):
    """IPAddress reserves one IP address for one object.

    Its name is the address in canonical form, such as `192.168.1.5` or `2001:db8::aaaa`, so an
    address cannot be allocated twice.
    """

    spec: IPAddressSpec = field(
        default_factory=IPAddressSpec, proto=2, required=True, doc="Use of the address."
    )
