"""ResourceClaimTemplate: from which claims are created, one for each pod."""

from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model, field
from apis.resource.v1.resource_claim import ResourceClaimSpec


class ResourceClaimTemplateSpec(Model):
    """Metadata and spec of the claims that are created."""

    metadata: ObjectMeta = field(
        default_factory=ObjectMeta,
        proto=1,
        doc="Labels and annotations of the claims; other fields are not allowed.",
    )
    spec: ResourceClaimSpec = field(
        default_factory=ResourceClaimSpec, proto=2, doc="Spec of the claims, copied as it is."
    )


class ResourceClaimTemplate(Object):
    """ResourceClaimTemplate describes claims that are created for pods."""

    spec: ResourceClaimTemplateSpec = field(
        default_factory=ResourceClaimTemplateSpec,
        proto=2,
        doc="The claims that are created. Immutable.",
    )
