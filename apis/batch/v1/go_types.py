"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "CronJobSpec.concurrencyPolicy": "v1.ConcurrencyPolicy",
    "JobCondition.status": "v1.ConditionStatus",
    "JobCondition.type": "v1.JobConditionType",
    "JobSchedulingConfiguration.disruptionMode": "v1alpha3.WorkloadPodGroupDisruptionMode",
    "JobSchedulingConfiguration.resourceClaims": "[]v1alpha3.WorkloadPodGroupResourceClaim",
    "JobSchedulingConfiguration.schedulingConstraints": (
        "v1alpha3.WorkloadPodGroupSchedulingConstraints"
    ),
    "JobSchedulingConfiguration.schedulingPolicy": "v1alpha3.WorkloadPodGroupSchedulingPolicy",
    "JobSpec.completionMode": "v1.CompletionMode",
    "JobSpec.podReplacementPolicy": "v1.PodReplacementPolicy",
    "PodFailurePolicyOnExitCodesRequirement.operator": "v1.PodFailurePolicyOnExitCodesOperator",
    "PodFailurePolicyOnPodConditionsPattern.status": "v1.ConditionStatus",
    "PodFailurePolicyOnPodConditionsPattern.type": "v1.PodConditionType",
    "PodFailurePolicyRule.action": "v1.PodFailurePolicyAction",
    "UncountedTerminatedPods.failed": "[]types.UID",
    "UncountedTerminatedPods.succeeded": "[]types.UID",
}
