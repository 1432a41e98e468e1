"""Scheduling of the pods of a job as a group: a feature that is not enabled by default."""

from typing import Final

from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32

_PACKAGE: Final = "io.k8s.api.scheduling.v1alpha3"


class WorkloadPodGroupBasicSchedulingPolicy(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupBasicSchedulingPolicy"
):
    """Every pod is scheduled by itself."""


class WorkloadPodGroupGangSchedulingPolicy(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupGangSchedulingPolicy"
):
    """Pods are scheduled only if enough of them can run."""

    min_count: Int32 | None = field(
        None, proto=1, doc="Number of pods that must be schedulable together."
    )


class WorkloadPodGroupSchedulingPolicy(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupSchedulingPolicy"
):
    """Whether pods are scheduled one by one or together; exactly one field is set."""

    basic: WorkloadPodGroupBasicSchedulingPolicy | None = field(
        None, proto=1, doc="Schedules every pod by itself."
    )
    gang: WorkloadPodGroupGangSchedulingPolicy | None = field(
        None, proto=2, doc="Schedules pods only together."
    )


class TopologyConstraint(Model, definition=f"{_PACKAGE}.TopologyConstraint"):
    """All pods of the group run in one domain of a topology."""

    key: str = field(
        "", proto=1, omit_empty=False, doc="Label of nodes whose values are the domains."
    )


class WorkloadPodGroupSchedulingConstraints(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupSchedulingConstraints"
):
    """Constraints for the placement of the group."""

    topology: list[TopologyConstraint] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Topologies that hold it together."
    )


class WorkloadPodGroupSingleDisruptionMode(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupSingleDisruptionMode"
):
    """Pods of the group can be disrupted one by one."""


class WorkloadPodGroupAllDisruptionMode(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupAllDisruptionMode"
):
    """Pods of the group can only be disrupted together."""


class WorkloadPodGroupDisruptionMode(
    Model, definition=f"{_PACKAGE}.WorkloadPodGroupDisruptionMode"
):
    """Whether pods are disrupted one by one or together; exactly one field is set."""

    single: WorkloadPodGroupSingleDisruptionMode | None = field(
        None, proto=1, doc="Disrupts pods one by one."
    )
    all: WorkloadPodGroupAllDisruptionMode | None = field(
        None, proto=2, doc="Disrupts all pods together."
    )


class WorkloadPodGroupResourceClaim(Model, definition=f"{_PACKAGE}.WorkloadPodGroupResourceClaim"):
    """A claim of resources that all pods of the group share."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the claim within the group.")
    resource_claim_name: str | None = field(None, proto=2, doc="Name of an existing claim.")
    resource_claim_template_name: str | None = field(
        None, proto=3, doc="Name of the template that the claim is created from."
    )


class JobSchedulingConfiguration(Model):
    """How the pods of a job are scheduled as a group."""

    scheduling_policy: WorkloadPodGroupSchedulingPolicy | None = field(
        None, proto=1, doc="Whether pods are scheduled one by one or together."
    )
    scheduling_constraints: WorkloadPodGroupSchedulingConstraints | None = field(
        None, proto=2, doc="Constraints for the placement of the group."
    )
    disruption_mode: WorkloadPodGroupDisruptionMode | None = field(
        None, proto=3, doc="Whether pods are disrupted one by one or together."
    )
    resource_claims: list[WorkloadPodGroupResourceClaim] = field(
        default_factory=list,
        proto=4,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Claims of resources that the pods share.",
    )
