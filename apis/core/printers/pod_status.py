"""The summary of a pod in one word, as `kubectl get pods` shows it, and what it is made of.

The word is that of the most telling part: a deletion, the first init container that has not
finished, the first container that waits or has ended, the reason of the pod, its phase.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from apis.core.v1.container_status import ContainerState, ContainerStateTerminated, ContainerStatus
from apis.core.v1.pod import Pod
from apis.core.v1.pod_status import PodCondition

SCHEDULED: Final = "PodScheduled"
INITIALIZED: Final = "Initialized"
READY: Final = "Ready"
SCHEDULING_GATED: Final = "SchedulingGated"
NODE_LOST: Final = "NodeLost"
FINISHED: Final = ("Failed", "Succeeded")
"""The phases of a pod that will not run again."""

_COMPLETED: Final = "Completed"


@dataclass(slots=True)
class PodSummary:
    """The cells of a pod that depend on the states of its containers."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: datetime | None = None


def summarize_pod(pod: Pod) -> PodSummary:
    """Return the summary of a pod."""
    summary = PodSummary(_pod_reason(pod))
    initializing = _add_init_containers(pod, summary)
    if not initializing or _is_true(pod.status.conditions, INITIALIZED):
        _add_containers(pod, summary)
    if pod.metadata.deletion_timestamp is not None:
        if pod.status.reason == NODE_LOST:
            summary.reason = "Unknown"
        elif pod.status.phase not in FINISHED:
            summary.reason = "Terminating"
    return summary


def sidecar_names(pod: Pod) -> frozenset[str]:
    """Return the names of the init containers that keep running beside the others."""
    return frozenset(
        container.name
        for container in pod.spec.init_containers
        if container.restart_policy == "Always"
    )


def _pod_reason(pod: Pod) -> str:
    gated = any(
        condition.type == SCHEDULED and condition.reason == SCHEDULING_GATED
        for condition in pod.status.conditions
    )
    return SCHEDULING_GATED if gated else pod.status.reason or pod.status.phase


def _add_init_containers(pod: Pod, summary: PodSummary) -> bool:
    """Add the init containers up to the first that has not finished; return if there is one."""
    sidecars = sidecar_names(pod)
    for position, status in enumerate(pod.status.init_container_statuses):
        _add_restarts(summary, status)
        ended = status.state.terminated
        if ended is not None and ended.exit_code == 0:
            continue
        if status.name in sidecars and status.started:
            summary.ready += status.ready
            continue
        total = len(pod.spec.init_containers)
        summary.reason = f"Init:{_init_reason(status.state) or f'{position}/{total}'}"
        return True
    return False


def _init_reason(state: ContainerState) -> str:
    if state.terminated is not None:
        return _end(state.terminated)
    waiting = state.waiting.reason if state.waiting is not None else ""
    return "" if waiting == "PodInitializing" else waiting


def _add_containers(pod: Pod, summary: PodSummary) -> None:
    sidecars = sidecar_names(pod)
    summary.restarts, summary.last_restart = 0, None
    for status in _reached_init_statuses(pod, sidecars):
        if status.name in sidecars:
            _add_restarts(summary, status)
    running, error = False, ""
    for status in reversed(pod.status.container_statuses):
        _add_restarts(summary, status)
        state = status.state
        if state.waiting is not None and state.waiting.reason:
            summary.reason = state.waiting.reason
        elif state.terminated is not None:
            summary.reason = _end(state.terminated)
            error = summary.reason if state.terminated.exit_code else error
        elif status.ready and state.running is not None:
            running = True
            summary.ready += 1
    if summary.reason == _COMPLETED:
        summary.reason = _reason_of_completed(pod, running=running, error=error)


def _reached_init_statuses(pod: Pod, sidecars: frozenset[str]) -> Iterable[ContainerStatus]:
    """Yield the statuses of init containers up to the first that has not finished."""
    for status in pod.status.init_container_statuses:
        yield status
        ended = status.state.terminated
        finished = ended is not None and ended.exit_code == 0
        if not finished and not (status.name in sidecars and status.started):
            return


def _reason_of_completed(pod: Pod, *, running: bool, error: str) -> str:
    """Return the reason of a pod whose first container is completed."""
    if running and _is_true(pod.status.conditions, READY):
        return "Running"
    return error or ("NotReady" if running else _COMPLETED)


def _end(state: ContainerStateTerminated) -> str:
    if state.reason:
        return state.reason
    return f"Signal:{state.signal}" if state.signal else f"ExitCode:{state.exit_code}"


def _add_restarts(summary: PodSummary, status: ContainerStatus) -> None:
    summary.restarts += status.restart_count
    last = status.last_state.terminated
    ended = last.finished_at if last is not None else None
    if ended is not None and (summary.last_restart is None or ended > summary.last_restart):
        summary.last_restart = ended


def _is_true(conditions: Iterable[PodCondition], kind: str) -> bool:
    return any(condition.type == kind and condition.status == "True" for condition in conditions)
