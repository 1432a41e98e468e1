"""The internal type of ResourceQuota, which also has the charges that no object confirms yet.

It is stored: see docs/evolving.md before changing a field.
"""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apis.core import v1


class PendingCharge(Model):
    """A part of `used` that is charged for a write whose outcome is not known yet."""

    id: str
    resource: str
    """The resource of the object with its group, as messages name it."""
    name: str
    uid: str
    version: str = ""
    """The resourceVersion that an update replaces; empty for a new object."""
    used: dict[str, Quantity] = field(default_factory=dict)


class ResourceQuotaStatus(v1.ResourceQuotaStatus):
    """The status that clients see, and what the server keeps beside it."""

    pending: list[PendingCharge] = field(default_factory=list)
    recounts: int = 0
    """How often `used` was corrected: a correction applies to the state it was computed from."""


class ResourceQuota(v1.ResourceQuota, kind="ResourceQuota"):
    """A ResourceQuota with its pending charges."""

    status: ResourceQuotaStatus = field(default_factory=ResourceQuotaStatus)
