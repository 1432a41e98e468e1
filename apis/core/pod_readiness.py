"""Readiness of a pod: whether it counts for the controller that keeps it."""

from datetime import datetime, timedelta
from typing import Final

from apis.core.v1.pod import Pod

READY: Final = "Ready"
ENDED: Final = ("Succeeded", "Failed")


def is_active(pod: Pod) -> bool:
    """Return whether the pod runs, or will: it has neither ended nor is it being deleted."""
    return pod.status.phase not in ENDED and pod.metadata.deletion_timestamp is None


def ready_since(pod: Pod) -> datetime | None:
    """Return since when the pod is ready; the oldest possible time if that is not known."""
    for condition in pod.status.conditions:
        if condition.type == READY:
            if condition.status != "True":
                return None
            return condition.last_transition_time or _LONG_AGO
    return None


def is_ready(pod: Pod) -> bool:
    return ready_since(pod) is not None


def available_at(pod: Pod, min_ready_seconds: int) -> datetime | None:
    """Return from when on the pod is available if it stays ready, None if it is not ready."""
    since = ready_since(pod)
    return None if since is None else since + timedelta(seconds=min_ready_seconds)


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> bool:
    """Return whether the pod has been ready for long enough."""
    at = available_at(pod, min_ready_seconds)
    return at is not None and (not min_ready_seconds or at <= now)


_LONG_AGO: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
