"""Deployment status: the sums over all replica sets, and whether the rollout gets on.

The condition Available says whether enough pods are available. Progressing says how far the newest
replica set is: it is true while something moves and when the rollout is complete, and false once
nothing has moved for `progressDeadlineSeconds`.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from apimachinery.scalars.time import Time
from apis.apps.controllers.deployment_plan import Rollout, total
from apis.apps.v1 import Deployment
from apis.apps.v1.deployment import DeploymentCondition, DeploymentStatus

AVAILABLE: Final = "Available"
PROGRESSING: Final = "Progressing"
FAILURE: Final = "ReplicaFailure"

COMPLETE: Final = "NewReplicaSetAvailable"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
PAUSED: Final = "DeploymentPaused"
RESUMED: Final = "DeploymentResumed"
FOUND: Final = "FoundNewReplicaSet"
CREATED: Final = "NewReplicaSetCreated"
CREATION_FAILED: Final = "ReplicaSetCreateError"
UPDATED: Final = "ReplicaSetUpdated"

_NO_DEADLINE: Final = 2**31 - 1
"""As a deadline, the largest number means none."""


def condition_of(status: DeploymentStatus, type_: str) -> DeploymentCondition | None:
    return next((each for each in status.conditions if each.type == type_), None)


def set_condition(
    status: DeploymentStatus, type_: str, state: str, reason: str, message: str, now: datetime
) -> None:
    """Set a condition unless it has this state for this reason already."""
    known = condition_of(status, type_)
    if known is not None and (known.status, known.reason) == (state, reason):
        return
    kept = known is not None and known.status == state
    since = known.last_transition_time if known is not None and kept else now
    _put(status, _condition(type_, state, reason, message, now, since))


def remove_condition(status: DeploymentStatus, type_: str) -> None:
    status.conditions = [each for each in status.conditions if each.type != type_]


def deadline_of(deployment: Deployment) -> int | None:
    """Return the seconds without progress after which a rollout has failed, None for no limit."""
    seconds = deployment.spec.progress_deadline_seconds
    return None if seconds == _NO_DEADLINE else seconds


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Return whether all pods are of today's template and available."""
    wanted = deployment.spec.replicas
    return (
        status.updated_replicas == status.replicas == status.available_replicas == wanted
        and status.observed_generation >= deployment.metadata.generation
    )


def observed_status(rollout: Rollout, now: datetime) -> DeploymentStatus:
    """Return the counts of a deployment, with the conditions that it has, and Available."""
    before, sets = rollout.deployment.status, rollout.sets
    available = sum(one.status.available_replicas for one in sets)
    status = DeploymentStatus(
        observed_generation=rollout.deployment.metadata.generation,
        replicas=sum(one.status.replicas for one in sets),
        updated_replicas=rollout.new.status.replicas if rollout.new is not None else 0,
        ready_replicas=sum(one.status.ready_replicas for one in sets),
        available_replicas=available,
        unavailable_replicas=max(total(sets) - available, 0),
        terminating_replicas=_sum_known(one.status.terminating_replicas for one in sets),
        collision_count=before.collision_count,
        conditions=[each.deep_copy() for each in before.conditions],
    )
    is_enough = available >= rollout.limits.minimum
    set_condition(
        status,
        AVAILABLE,
        str(is_enough),
        "MinimumReplicasAvailable" if is_enough else "MinimumReplicasUnavailable",
        f"Deployment {'has' if is_enough else 'does not have'} minimum availability.",
        now,
    )
    return status


def judge_progress(rollout: Rollout, status: DeploymentStatus, now: datetime) -> None:
    """Set the condition Progressing of *status*, by what has changed since the last one."""
    deployment = rollout.deployment
    deadline = deadline_of(deployment)
    if deadline is None:
        remove_condition(status, PROGRESSING)
        return
    current = condition_of(status, PROGRESSING)
    was_complete = current is not None and current.reason == COMPLETE
    if was_complete and status.replicas == status.updated_replicas:
        return
    subject = f'Deployment "{deployment.metadata.name}"'
    if rollout.new is not None:
        subject = f'ReplicaSet "{rollout.new.metadata.name}"'
    if is_complete(deployment, status):
        message = f"{subject} has successfully progressed."
        set_condition(status, PROGRESSING, "True", COMPLETE, message, now)
    elif _has_moved(deployment.status, status):
        # Each sign of progress begins the deadline anew: the time of the update must change.
        since = now
        if current is not None and current.status == "True":
            since = current.last_transition_time or now
        message = f"{subject} is progressing."
        _put(status, _condition(PROGRESSING, "True", UPDATED, message, now, since))
    elif _is_late(current, deadline, now):
        message = f"{subject} has timed out progressing."
        set_condition(status, PROGRESSING, "False", TIMED_OUT, message, now)


def report_failures(rollout: Rollout, status: DeploymentStatus) -> None:
    """Copy the failure of a replica set, that of the newest first."""
    newest_first = [*([rollout.new] if rollout.new is not None else []), *rollout.old]
    for replica_set in newest_first:
        for failure in replica_set.status.conditions:
            if failure.type == FAILURE:
                since = failure.last_transition_time
                text = (failure.status, failure.reason, failure.message)
                known = condition_of(status, FAILURE)
                if known is None or (known.status, known.reason) != text[:2]:
                    _put(status, _condition(FAILURE, *text, since, since))
                return
    remove_condition(status, FAILURE)


def seconds_to_deadline(
    deployment: Deployment, status: DeploymentStatus, now: datetime
) -> float | None:
    """Return when to look again whether a rollout still moves, None if that is no question."""
    deadline, current = deadline_of(deployment), condition_of(status, PROGRESSING)
    if deadline is None or current is None or current.last_update_time is None:
        return None
    if is_complete(deployment, status) or current.reason == TIMED_OUT:
        return None
    left = current.last_update_time + timedelta(seconds=deadline) - now
    return max(left.total_seconds(), 0.0) + 1.0  # times of conditions have no fractions


def _has_moved(before: DeploymentStatus, now: DeploymentStatus) -> bool:
    return (
        now.updated_replicas > before.updated_replicas
        or now.replicas - now.updated_replicas < before.replicas - before.updated_replicas
        or now.ready_replicas > before.ready_replicas
        or now.available_replicas > before.available_replicas
    )


def _is_late(current: DeploymentCondition | None, deadline: int, now: datetime) -> bool:
    if current is None or current.reason == COMPLETE or current.last_update_time is None:
        return False
    return current.last_update_time + timedelta(seconds=deadline) < now


def _condition(
    type_: str, state: str, reason: str, message: str, now: Time | None, since: Time | None
) -> DeploymentCondition:
    return DeploymentCondition(
        type=type_,
        status=state,
        reason=reason,
        message=message,
        last_update_time=now,
        last_transition_time=since,
    )


def _put(status: DeploymentStatus, condition: DeploymentCondition) -> None:
    remove_condition(status, condition.type)
    status.conditions.append(condition)


def _sum_known(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
