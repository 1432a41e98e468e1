"""Pod replicas: make as many pods of a template as are wanted, or delete those that are too many.

Shared by the controllers of replica sets and of replication controllers.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from apimachinery.errors import APIError, Forbidden
from apimachinery.meta.owner_references import set_controller
from apimachinery.meta.types import Object, ObjectMeta
from apis.core.pod_readiness import is_ready, ready_since
from apis.core.v1.pod import Pod
from apis.core.v1.pod_template import PodTemplateSpec
from client.controller.context import Context
from client.controller.reconciler import Temporary

BURST: Final = 500
"""The maximum number of pods that one reconcile creates or deletes."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
"""Annotation of a pod: those with a lower number are deleted first."""

_TERMINATING: Final = "NamespaceTerminating"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}
_START: Final = datetime.fromtimestamp(0, UTC)


class ScalingError(Temporary):
    """Pods could not be created or deleted; *reason* is that of the condition that says so."""

    def __init__(self, reason: str, cause: APIError) -> None:
        super().__init__(str(cause))
        self.reason = reason


async def scale(
    ctx: Context[Any], owner: Object, template: PodTemplateSpec, pods: Sequence[Pod], wanted: int
) -> None:
    """Create or delete pods until *owner* has *wanted*; *pods* are those that it has.

    Raises ScalingError when the first of them fails; what is missing then is made by a retry.
    """
    missing = wanted - len(pods)
    if missing > 0:
        await _create(ctx, owner, template, min(missing, BURST))
    elif missing < 0:
        await _delete(ctx, owner, surplus(pods, min(-missing, BURST)))


def new_pod(ctx: Context[Any], owner: Object, template: PodTemplateSpec) -> Pod:
    """Return a pod of the template, not yet created, that *owner* controls."""
    meta = template.metadata
    pod = Pod(
        metadata=ObjectMeta(
            generate_name=f"{owner.metadata.name}-",
            namespace=owner.metadata.namespace,
            labels=dict(meta.labels),
            annotations=dict(meta.annotations),
            finalizers=list(meta.finalizers),
        ),
        spec=template.spec.deep_copy(),
    )
    set_controller(owner, pod, ctx.kind)
    return pod


def surplus(pods: Sequence[Pod], count: int) -> list[Pod]:
    """Return the pods to delete first: those whose loss costs least."""
    by_node = sorted(pods, key=lambda pod: pod.spec.node_name)
    neighbours = {name: len(list(group)) for name, group in groupby(by_node, _node_of)}
    return sorted(pods, key=lambda pod: _worth(pod, neighbours[_node_of(pod)]))[:count]


async def _create(ctx: Context[Any], owner: Object, template: PodTemplateSpec, count: int) -> None:
    """Create pods in batches of twice the size, so that a quota is not hit 500 times at once."""
    client = ctx.client.of(Pod, namespace=owner.metadata.namespace)
    done, batch = 0, 1
    while done < count:
        batch = min(batch, count - done)
        answers = await asyncio.gather(
            *(client.create(new_pod(ctx, owner, template)) for _ in range(batch)),
            return_exceptions=True,
        )
        for answer in answers:
            if isinstance(answer, Pod):
                ctx.event("Normal", "SuccessfulCreate", f"Created pod: {answer.metadata.name}")
        _raise_first(ctx, "FailedCreate", "Error creating: {}", answers)
        done, batch = done + batch, 2 * batch


async def _delete(ctx: Context[Any], owner: Object, pods: Sequence[Pod]) -> None:
    answers = await asyncio.gather(*(ctx.delete(pod) for pod in pods), return_exceptions=True)
    for pod, answer in zip(pods, answers, strict=True):
        if answer is None:
            ctx.event("Normal", "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")
    _raise_first(ctx, "FailedDelete", "Error deleting: {}", answers)


def _raise_first(ctx: Context[Any], reason: str, text: str, answers: Sequence[object]) -> None:
    errors = [answer for answer in answers if isinstance(answer, BaseException)]
    if not errors:
        return
    error = errors[0]
    if not isinstance(error, APIError):
        raise error
    if isinstance(error, Forbidden) and _says(error, _TERMINATING):
        return  # nothing can be created there any more, and soon nothing will be left
    ctx.event("Warning", reason, text.format(error))
    raise ScalingError(reason, error)


def _says(error: APIError, reason: str) -> bool:
    details = error.status.details
    return details is not None and any(cause.reason == reason for cause in details.causes)


def _node_of(pod: Pod) -> str:
    return pod.spec.node_name


def _worth(pod: Pod, neighbours: int) -> tuple[Any, ...]:
    """Order pods by what their loss would cost, as Kubernetes does."""
    since = ready_since(pod)
    restarts = max((status.restart_count for status in pod.status.container_statuses), default=0)
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 0),
        is_ready(pod),
        _deletion_cost(pod),
        -neighbours,
        -(since or _START).timestamp(),
        -restarts,
        -(pod.metadata.creation_timestamp or _START).timestamp(),
        pod.metadata.name,
    )


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get(DELETION_COST, "0"))
    except ValueError:
        return 0
