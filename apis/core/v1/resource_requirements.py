"""Compute resources: what containers, pods and volumes request and may use."""

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity


class ResourceClaim(Model):
    """Reference to an entry of `resourceClaims` in the pod, for a container that uses the claim."""

    name: str = field(
        "", proto=1, omit_empty=False, doc="Name of the entry in `spec.resourceClaims` of the pod."
    )
    request: str = field(
        "",
        proto=2,
        doc=(
            "Name of a single request in the claim; if empty, the container gets everything "
            "that the claim allocates."
        ),
    )


class ResourceRequirements(Model):
    """Compute resources that a container or pod requests, and the limits it may not exceed."""

    limits: dict[str, Quantity] = field(
        default_factory=dict,
        proto=1,
        doc=(
            "Largest amount of each resource that may be used, such as `cpu: 500m` or `memory: "
            "1Gi`."
        ),
    )
    requests: dict[str, Quantity] = field(
        default_factory=dict,
        proto=2,
        doc=(
            "Amount of each resource that the scheduler reserves; defaults to the limit of the "
            "same resource."
        ),
    )
    claims: list[ResourceClaim] = field(
        default_factory=list,
        proto=3,
        list_map_keys=("name",),
        doc=(
            "Entries of `spec.resourceClaims` that this container uses; immutable, and only for "
            "containers."
        ),
    )


class ContainerResizePolicy(Model):
    """Whether a container must restart to have one of its resources resized in place."""

    resource_name: str = field(
        "", proto=1, omit_empty=False, doc="Resource that the policy applies to: `cpu` or `memory`."
    )
    restart_policy: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="`NotRequired` to resize the running container, `RestartContainer` to restart it.",
    )


class VolumeResourceRequirements(Model):
    """Storage that a volume claim requests."""

    limits: dict[str, Quantity] = field(
        default_factory=dict, proto=1, doc="Largest amount of storage that the volume may have."
    )
    requests: dict[str, Quantity] = field(
        default_factory=dict,
        proto=2,
        doc="Smallest amount of storage that the volume must have, such as `storage: 10Gi`.",
    )
