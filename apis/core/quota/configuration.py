"""ResourceQuotaConfiguration: what nobody may use in a namespace that has no quota for it."""

from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import FieldError, Path, required
from apimachinery.meta.types import TypeMeta
from apimachinery.model.model import Model, field
from apis.core.v1.resource_quota import ScopedResourceSelectorRequirement
from apiserver.admission.configuration import ConfigurationKind


class LimitedResource(Model):
    """A resource whose use needs a quota that covers it."""

    api_group: str = field("")
    resource: str = field("")
    match_contains: list[str] = field(default_factory=list)
    """Parts of the names under which quotas count what is limited."""
    match_scopes: list[ScopedResourceSelectorRequirement] = field(default_factory=list)
    """Objects in these scopes need a quota with the scope."""


class ResourceQuotaConfiguration(TypeMeta):
    """What is limited by default; without a configuration, nothing is."""

    limited_resources: list[LimitedResource] = field(default_factory=list)


def _validate(configuration: ResourceQuotaConfiguration) -> Iterator[FieldError]:
    for position, limited in enumerate(configuration.limited_resources):
        if not limited.resource:
            yield required(Path("limitedResources").index(position).child("resource"))


CONFIGURATION: Final = ConfigurationKind(
    ResourceQuotaConfiguration,
    "ResourceQuotaConfiguration",
    ("apiserver.config.k8s.io/v1",),
    _validate,
)
