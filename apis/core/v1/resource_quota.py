"""ResourceQuota: bounds for the resources that all objects of a namespace use together."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity

TERMINATING_SCOPE: Final = "Terminating"
NOT_TERMINATING_SCOPE: Final = "NotTerminating"
BEST_EFFORT_SCOPE: Final = "BestEffort"
NOT_BEST_EFFORT_SCOPE: Final = "NotBestEffort"
PRIORITY_CLASS_SCOPE: Final = "PriorityClass"
CROSS_NAMESPACE_SCOPE: Final = "CrossNamespacePodAffinity"
VOLUME_ATTRIBUTES_SCOPE: Final = "VolumeAttributesClass"

SCOPES: Final = (
    BEST_EFFORT_SCOPE,
    CROSS_NAMESPACE_SCOPE,
    NOT_BEST_EFFORT_SCOPE,
    NOT_TERMINATING_SCOPE,
    PRIORITY_CLASS_SCOPE,
    TERMINATING_SCOPE,
    VOLUME_ATTRIBUTES_SCOPE,
)


class ScopedResourceSelectorRequirement(Model):
    """A requirement on the scope of an object, such as its priority class."""

    scope_name: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=SCOPES,
        publish_enum=True,
        doc="Scope that the requirement is about.",
    )
    operator: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("DoesNotExist", "Exists", "In", "NotIn"),
        publish_enum=True,
        doc="How the scope of an object is compared with `values`.",
    )
    values: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Values for the operators In and NotIn; empty for the others.",
    )


class ScopeSelector(Model, map_type="atomic"):
    """A selector of objects by their scopes; all requirements must hold."""

    match_expressions: list[ScopedResourceSelectorRequirement] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Requirements on the scopes of an object.",
    )


class ResourceQuotaSpec(Model):
    """Bounds that a ResourceQuota enforces."""

    hard: dict[str, Quantity] = field(
        default_factory=dict,
        proto=1,
        doc="Largest total amount of each resource, such as `requests.cpu` or `count/pods`.",
    )
    scopes: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        known=SCOPES,
        publish_enum=True,
        doc="Scopes that an object must match to be counted; if empty, all objects are. Immutable.",
    )
    scope_selector: ScopeSelector | None = field(
        None, proto=3, doc="Requirements on scopes that an object must match to be counted."
    )


class ResourceQuotaStatus(Model):
    """Enforced bounds and current use of a ResourceQuota."""

    hard: dict[str, Quantity] = field(
        default_factory=dict, proto=1, doc="Bounds that are enforced for each resource."
    )
    used: dict[str, Quantity] = field(
        default_factory=dict, proto=2, doc="Amount of each resource that the namespace uses."
    )


class ResourceQuota(Object):
    """ResourceQuota bounds the resources that all objects of a namespace use together."""

    spec: ResourceQuotaSpec = field(
        default_factory=ResourceQuotaSpec, proto=2, doc="Bounds to enforce."
    )
    status: ResourceQuotaStatus = field(
        default_factory=ResourceQuotaStatus, proto=3, doc="Enforced bounds and current use."
    )
