"""ServiceCIDR: a range of addresses that services get their cluster IPs from."""

from typing import Final

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field

DEFAULT_SERVICE_CIDR: Final = "kubernetes"
"""Name of the ServiceCIDR that the server creates from its own configuration."""
READY: Final = "Ready"
"""Type of the condition that says whether addresses are allocated from the range."""
TERMINATING: Final = "Terminating"
"""Reason of the condition while the range is being deleted."""
SERVICE_CIDR_FINALIZER: Final = "networking.k8s.io/service-cidr-finalizer"
"""Finalizer that keeps a range while addresses of it are allocated."""


class ServiceCIDRSpec(Model):
    """Ranges of a ServiceCIDR."""

    cidrs: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc=(
            "IP ranges in CIDR notation, such as `192.168.0.0/24` or `2001:db8::/64`, from which"
            " cluster IPs are allocated: one, or one of each IP family. A second one can be added"
            " later; otherwise the field is immutable."
        ),
    )


class ServiceCIDRStatus(Model):
    """State of a ServiceCIDR."""

    conditions: list[Condition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the ranges; Ready says whether addresses are allocated from them.",
    )


class ServiceCIDR(Object):
    """ServiceCIDR is a range of IP addresses, or one of each IP family, for cluster IPs."""

    spec: ServiceCIDRSpec = field(
        default_factory=ServiceCIDRSpec, proto=2, doc="Desired state of the ranges."
    )
    status: ServiceCIDRStatus = field(
        default_factory=ServiceCIDRStatus, proto=3, doc="Current state of the ranges."
    )
