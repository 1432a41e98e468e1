"""The types of batch/v1, each module imported when one of its names is used first."""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apis.batch.v1.cron_job import CronJob as CronJob
    from apis.batch.v1.cron_job import CronJobSpec as CronJobSpec
    from apis.batch.v1.cron_job import CronJobStatus as CronJobStatus
    from apis.batch.v1.cron_job import JobTemplateSpec as JobTemplateSpec
    from apis.batch.v1.job import Job as Job
    from apis.batch.v1.job import JobCondition as JobCondition
    from apis.batch.v1.job import JobSpec as JobSpec
    from apis.batch.v1.job import JobStatus as JobStatus
    from apis.batch.v1.job import PodFailurePolicy as PodFailurePolicy
    from apis.batch.v1.job import (
        PodFailurePolicyOnExitCodesRequirement as PodFailurePolicyOnExitCodesRequirement,
    )
    from apis.batch.v1.job import (
        PodFailurePolicyOnPodConditionsPattern as PodFailurePolicyOnPodConditionsPattern,
    )
    from apis.batch.v1.job import PodFailurePolicyRule as PodFailurePolicyRule
    from apis.batch.v1.job import SuccessPolicy as SuccessPolicy
    from apis.batch.v1.job import SuccessPolicyRule as SuccessPolicyRule
    from apis.batch.v1.job import UncountedTerminatedPods as UncountedTerminatedPods
    from apis.batch.v1.pod_group import JobSchedulingConfiguration as JobSchedulingConfiguration
    from apis.batch.v1.pod_group import TopologyConstraint as TopologyConstraint
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupAllDisruptionMode as WorkloadPodGroupAllDisruptionMode,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupBasicSchedulingPolicy as WorkloadPodGroupBasicSchedulingPolicy,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupDisruptionMode as WorkloadPodGroupDisruptionMode,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupGangSchedulingPolicy as WorkloadPodGroupGangSchedulingPolicy,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupResourceClaim as WorkloadPodGroupResourceClaim,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupSchedulingConstraints as WorkloadPodGroupSchedulingConstraints,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupSchedulingPolicy as WorkloadPodGroupSchedulingPolicy,
    )
    from apis.batch.v1.pod_group import (
        WorkloadPodGroupSingleDisruptionMode as WorkloadPodGroupSingleDisruptionMode,
    )
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "cron_job": "CronJob CronJobSpec CronJobStatus JobTemplateSpec",
            "job": (
                "Job JobCondition JobSpec JobStatus PodFailurePolicy"
                " PodFailurePolicyOnExitCodesRequirement PodFailurePolicyOnPodConditionsPattern"
                " PodFailurePolicyRule SuccessPolicy SuccessPolicyRule UncountedTerminatedPods"
            ),
            "pod_group": (
                "JobSchedulingConfiguration TopologyConstraint"
                " WorkloadPodGroupAllDisruptionMode WorkloadPodGroupBasicSchedulingPolicy"
                " WorkloadPodGroupDisruptionMode WorkloadPodGroupGangSchedulingPolicy"
                " WorkloadPodGroupResourceClaim WorkloadPodGroupSchedulingConstraints"
                " WorkloadPodGroupSchedulingPolicy WorkloadPodGroupSingleDisruptionMode"
            ),
        },
    )
