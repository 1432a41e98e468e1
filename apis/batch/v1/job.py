"""Job: pods that run until they have succeeded."""

from typing import Final

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.batch.v1.pod_group import JobSchedulingConfiguration
from apis.core.v1.pod_template import PodTemplateSpec

NON_INDEXED: Final = "NonIndexed"
INDEXED: Final = "Indexed"
FAILED: Final = "Failed"
TERMINATING_OR_FAILED: Final = "TerminatingOrFailed"

COMPLETE: Final = "Complete"
SUSPENDED: Final = "Suspended"
FAILURE_TARGET: Final = "FailureTarget"
SUCCESS_CRITERIA_MET: Final = "SuccessCriteriaMet"

NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
"""Labels of pods with the name of their job; the first is older."""
UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
UID_LABELS: Final = ("controller-uid", UID_LABEL)
"""Labels of pods with the UID of their job; the first is older."""


class PodFailurePolicyOnExitCodesRequirement(Model):
    """Matches a failed pod by the exit codes of its containers. Exit code 0 never matches."""

    container_name: str | None = field(
        None,
        proto=1,
        doc=(
            "Name of the container whose exit code counts. Without it, that of every"
            " container does."
        ),
    )
    operator: str = field(
        "",
        proto=2,
        known=("In", "NotIn"),
        omit_empty=False,
        publish_enum=True,
        doc=("In matches if an exit code is one of the values, NotIn if one is not. Required."),
    )
    values: list[Int32] = field(
        default_factory=list,
        proto=3,
        omit_empty=False,
        list_type="set",
        doc=(
            "Exit codes, in ascending order and without repetition; 1 to 255 values. Not 0"
            " with the operator In."
        ),
    )


class PodFailurePolicyOnPodConditionsPattern(Model):
    """Matches a failed pod by one of its conditions."""

    type: str = field("", proto=1, omit_empty=False, doc="Type of the condition. Required.")
    status: str = field(
        "",
        proto=2,
        known=("True", "False", "Unknown"),
        omit_empty=False,
        required=False,
        doc="Status that the condition must have, True by default.",
    )


class PodFailurePolicyRule(Model):
    """What becomes of the job if a pod fails in a certain way.

    Exactly one of `onExitCodes` and `onPodConditions` is set.
    """

    action: str = field(
        "",
        proto=1,
        known=("Count", "FailIndex", "FailJob", "Ignore"),
        omit_empty=False,
        publish_enum=True,
        doc=(
            "FailJob fails the job, FailIndex its index, Ignore replaces the pod without"
            " counting the failure, Count treats it as usual. Required."
        ),
    )
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = field(
        None, proto=2, doc="Exit codes that the rule applies to."
    )
    on_pod_conditions: list[PodFailurePolicyOnPodConditionsPattern] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Conditions of a pod of which one must match; at most 20.",
    )


class PodFailurePolicy(Model):
    """Which failures of pods count, and which fail the job."""

    rules: list[PodFailurePolicyRule] = field(
        default_factory=list,
        proto=1,
        null_when_empty=True,
        list_type="atomic",
        doc=(
            "Rules of which the first that matches is applied; at most 20. A failure that"
            " no rule matches counts towards `backoffLimit`."
        ),
    )


class SuccessPolicyRule(Model):
    """When a job has succeeded although not all indexes have; all that is set must be fulfilled."""

    succeeded_indexes: str | None = field(
        None, proto=1, doc="Indexes that must have succeeded, as numbers and ranges: `1,3-5,7`."
    )
    succeeded_count: Int32 | None = field(
        None, proto=2, doc="Number of indexes, or of `succeededIndexes`, that must have succeeded."
    )


class SuccessPolicy(Model):
    """When an indexed job has succeeded before all indexes have."""

    rules: list[SuccessPolicyRule] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Rules of which one must be fulfilled; 1 to 20.",
    )


class JobSpec(Model):
    """Desired behavior of a job."""

    parallelism: Int32 | None = field(
        None, proto=1, doc="Number of pods that run at the same time at most. 1 by default."
    )
    completions: Int32 | None = field(
        None,
        proto=2,
        doc=(
            "Number of pods that must succeed. Without it, the success of any pod ends the"
            " job; 1 if `parallelism` is not set either."
        ),
    )
    active_deadline_seconds: int | None = field(
        None,
        proto=3,
        doc=(
            "Seconds after its start at which a running job fails. It does not count while"
            " the job is suspended."
        ),
    )
    pod_failure_policy: PodFailurePolicy | None = field(
        None,
        proto=11,
        doc=(
            "Which failures of pods count, and which fail the job. The restart policy must"
            " be Never. Cannot be changed."
        ),
    )
    success_policy: SuccessPolicy | None = field(
        None,
        proto=16,
        doc=("When an indexed job has succeeded before all indexes have. Cannot be changed."),
    )
    backoff_limit: Int32 | None = field(
        None,
        proto=7,
        doc=(
            "Number of failed pods after which the job fails. 6 by default; unlimited if"
            " `backoffLimitPerIndex` is set."
        ),
    )
    backoff_limit_per_index: Int32 | None = field(
        None,
        proto=12,
        doc=(
            "Number of failed pods after which an index fails. Only for indexed jobs with"
            " the restart policy Never. Cannot be changed."
        ),
    )
    max_failed_indexes: Int32 | None = field(
        None,
        proto=13,
        doc=(
            "Number of failed indexes after which the job fails. Only together with"
            " `backoffLimitPerIndex`."
        ),
    )
    selector: LabelSelector | None = field(
        None,
        proto=4,
        doc=(
            "Labels of the pods that belong to the job. The server generates it, and it"
            " cannot be changed."
        ),
    )
    manual_selector: bool | None = field(
        None,
        proto=5,
        doc=(
            "Whether `selector` and the labels of the template are written by hand. Leave"
            " it unset unless you are certain that they are unique."
        ),
    )
    template: PodTemplateSpec = field(
        default_factory=PodTemplateSpec,
        proto=6,
        required=True,
        doc="Pods that the job creates. Their restart policy is Never or OnFailure.",
    )
    ttl_seconds_after_finished: Int32 | None = field(
        None, proto=8, doc="Seconds after which a finished job is deleted. Without it, it is kept."
    )
    completion_mode: str | None = field(
        None,
        proto=9,
        known=("Indexed", "NonIndexed"),
        publish_enum=True,
        doc=(
            "NonIndexed (the default) counts successful pods, Indexed needs one for each"
            " index from 0 to `completions` - 1. Cannot be changed."
        ),
    )
    suspend: bool | None = field(
        None,
        proto=10,
        doc=("Whether the job creates no pods, and deletes those that run. False by default."),
    )
    pod_replacement_policy: str | None = field(
        None,
        proto=14,
        known=("Failed", "TerminatingOrFailed"),
        publish_enum=True,
        doc=(
            "When a failed pod is replaced: TerminatingOrFailed (the default) as soon as it"
            " terminates, Failed when it has ended. Only Failed with a pod failure policy."
        ),
    )
    managed_by: str | None = field(
        None,
        proto=15,
        doc=(
            "Controller that manages the job, such as `example.com/my-controller`. Without"
            " it, the one of Kubernetes does. Cannot be changed."
        ),
    )
    scheduling: JobSchedulingConfiguration | None = field(
        None,
        proto=17,
        doc=(
            "How the pods are scheduled as a group. It is dropped: the feature is not"
            " enabled by default."
        ),
    )


class JobCondition(Model):
    """One aspect of the state of a job."""

    type: str = field(
        "",
        proto=1,
        known=("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"),
        omit_empty=False,
        doc=(
            "Type of the condition: Complete, Failed, Suspended, FailureTarget or"
            " SuccessCriteriaMet."
        ),
    )
    status: str = field(
        "",
        proto=2,
        known=("True", "False", "Unknown"),
        omit_empty=False,
        doc="Status of the condition: True, False or Unknown.",
    )
    last_probe_time: Time | None = field(
        None,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Time when the condition was last checked.",
    )
    last_transition_time: Time | None = field(
        None, proto=4, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=5, doc="Reason of the last change, one word.")
    message: str = field("", proto=6, doc="Description of the last change.")


class UncountedTerminatedPods(Model):
    """Pods that have ended and are not in the counters of the status yet, by their UIDs."""

    succeeded: list[str] = field(
        default_factory=list, proto=1, list_type="set", doc="Pods that have succeeded."
    )
    failed: list[str] = field(
        default_factory=list, proto=2, list_type="set", doc="Pods that have failed."
    )


class JobStatus(Model):
    """Observed state of a job."""

    conditions: list[JobCondition] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the job. A finished job has Complete or Failed.",
    )
    start_time: Time | None = field(
        None,
        proto=2,
        doc=(
            "Time when the controller began with the job. It is reset when a suspended job resumes."
        ),
    )
    completion_time: Time | None = field(
        None, proto=3, doc="Time when the job was completed; not set for a failed job."
    )
    active: Int32 = field(
        0, proto=4, doc="Number of pods that are pending or running and not terminating."
    )
    succeeded: Int32 = field(0, proto=5, doc="Number of pods that have succeeded.")
    failed: Int32 = field(0, proto=6, doc="Number of pods that have failed.")
    terminating: Int32 | None = field(
        None, proto=11, doc="Number of pods that are being deleted and have not ended."
    )
    completed_indexes: str = field(
        "",
        proto=7,
        doc=(
            "Indexes that have succeeded, as numbers and ranges: `1,3-5,7`. Only for indexed jobs."
        ),
    )
    failed_indexes: str | None = field(
        None,
        proto=10,
        doc=("Indexes that have failed, as numbers and ranges. Only with `backoffLimitPerIndex`."),
    )
    uncounted_terminated_pods: UncountedTerminatedPods | None = field(
        None, proto=8, doc="Pods that have ended and are not in the counters yet."
    )
    ready: Int32 | None = field(
        None, proto=9, doc="Number of active pods with the condition Ready."
    )


class Job(Object):
    """Job runs pods until a number of them have succeeded."""

    spec: JobSpec = field(default_factory=JobSpec, proto=2, doc="Desired behavior of the job.")
    status: JobStatus = field(default_factory=JobStatus, proto=3, doc="Observed state of the job.")
