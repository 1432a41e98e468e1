"""Types of policy/v1, which are also the internal types."""

from typing import Final

from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Condition, LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32

IF_HEALTHY_BUDGET: Final = "IfHealthyBudget"
ALWAYS_ALLOW: Final = "AlwaysAllow"

DISRUPTION_ALLOWED: Final = "DisruptionAllowed"
"""Condition: whether the budget allows a disruption at the moment."""
DISRUPTION_BUDGET_CAUSE: Final = "DisruptionBudget"
"""The cause, in a Status, of an eviction that a budget does not allow."""
MATCH_ALL_KEY: Final = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
"""The label by which budgets of the former v1beta1 select no pods, or all."""


class PodDisruptionBudgetSpec(Model):
    """Pods that a budget protects, and how many of them must stay available."""

    min_available: IntOrString | None = field(
        None,
        proto=1,
        doc=(
            "Number or percentage of the selected pods that must still be available after an"
            " eviction. `100%` prevents all evictions. Not allowed together with"
            " `maxUnavailable`."
        ),
    )
    selector: LabelSelector | None = field(
        None,
        proto=2,
        patch_strategy="replace",
        doc=(
            "Labels of the pods that the budget protects. Without a selector it protects no pods;"
            " an empty selector selects all pods of the namespace."
        ),
    )
    max_unavailable: IntOrString | None = field(
        None,
        proto=3,
        doc=(
            "Number or percentage of the selected pods that may be unavailable after an eviction."
            " `0` prevents all evictions. Not allowed together with `minAvailable`."
        ),
    )
    unhealthy_pod_eviction_policy: str | None = field(
        None,
        proto=4,
        known=(ALWAYS_ALLOW, IF_HEALTHY_BUDGET),
        publish_enum=True,
        doc=(
            "When running pods that are not healthy may be evicted: IfHealthyBudget (the default)"
            " allows it while the budget is met, AlwaysAllow at any time."
        ),
    )


class PodDisruptionBudgetStatus(Model):
    """Observed state of a budget. It may lag behind the pods."""

    observed_generation: int = field(
        0, proto=1, doc="Generation of the budget that this status was computed from."
    )
    disrupted_pods: dict[str, Time] = field(
        default_factory=dict,
        proto=2,
        doc=(
            "Pods whose eviction was allowed and that have not been observed as deleted yet, with"
            " the time of the eviction. An entry that stays too long is removed."
        ),
    )
    disruptions_allowed: Int32 = field(
        0, proto=3, omit_empty=False, required=False, doc="Number of pods that may be evicted now."
    )
    current_healthy: Int32 = field(
        0, proto=4, omit_empty=False, required=False, doc="Number of healthy pods."
    )
    desired_healthy: Int32 = field(
        0,
        proto=5,
        omit_empty=False,
        required=False,
        doc="Number of healthy pods that the budget requires.",
    )
    expected_pods: Int32 = field(
        0, proto=6, omit_empty=False, required=False, doc="Number of pods that the budget counts."
    )
    conditions: list[Condition] = field(
        default_factory=list,
        proto=7,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc=(
            "Conditions of the budget. DisruptionAllowed has the reason SufficientPods,"
            " InsufficientPods or SyncFailed."
        ),
    )


class PodDisruptionBudget(Object):
    """PodDisruptionBudget limits how many pods of an application may be evicted at once."""

    spec: PodDisruptionBudgetSpec = field(
        default_factory=PodDisruptionBudgetSpec, proto=2, doc="Desired behavior of the budget."
    )
    status: PodDisruptionBudgetStatus = field(
        default_factory=PodDisruptionBudgetStatus, proto=3, doc="Observed state of the budget."
    )


class Eviction(Object):
    """Eviction asks to delete a pod, unless a disruption budget forbids it.

    It is created at the `eviction` subresource of the pod and never stored.
    """

    delete_options: DeleteOptions | None = field(
        None, proto=2, doc="Options of the deletion, such as the grace period."
    )
