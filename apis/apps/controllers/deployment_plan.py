"""Deployment plan: how many pods each replica set of a deployment should have now.

Pure functions of what is there. A rolling update keeps two promises at every moment: there are
never more pods than `maxSurge` beyond the wanted number, and never fewer available ones than
`maxUnavailable` below it. The new replica set grows into the surge, the old ones shrink by what is
available beyond the minimum, and the next change of their status moves the update on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from apimachinery.scalars.intstr import scaled_value
from apis.apps.v1 import Deployment, ReplicaSet

DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MAXIMUM: Final = "deployment.kubernetes.io/max-replicas"
"""Annotations of a replica set: the wanted and the maximum number of pods of its deployment."""
ROLLING_UPDATE: Final = "RollingUpdate"

Sizes = dict[str, int]
"""The wanted number of pods of replica sets, by name; those that are missing stay as they are."""


@dataclass(frozen=True)
class RolloutLimits:
    """How many pods a deployment wants, and how far an update may deviate from that."""

    wanted: int
    surge: int
    unavailable: int

    @classmethod
    def of(cls, deployment: Deployment) -> "RolloutLimits":
        replicas = deployment.spec.replicas
        wanted = 1 if replicas is None else replicas
        rolling = deployment.spec.strategy.rolling_update
        if deployment.spec.strategy.type != ROLLING_UPDATE or rolling is None:
            return cls(wanted, surge=0, unavailable=0)
        surge = scaled_value(rolling.max_surge or 0, wanted, round_up=True)
        unavailable = scaled_value(rolling.max_unavailable or 0, wanted, round_up=False)
        if not surge and not unavailable:
            unavailable = 1  # both may be percentages of few pods: an update must be able to begin
        return cls(wanted, surge, min(unavailable, wanted))

    @property
    def maximum(self) -> int:
        return self.wanted + self.surge

    @property
    def minimum(self) -> int:
        """The number of available pods that an update must leave."""
        return self.wanted - self.unavailable


@dataclass(frozen=True)
class Rollout:
    """A deployment, its newest replica set, if it exists, and the old ones, oldest first."""

    deployment: Deployment
    new: ReplicaSet | None
    old: Sequence[ReplicaSet]

    @cached_property
    def limits(self) -> RolloutLimits:
        return RolloutLimits.of(self.deployment)

    @property
    def sets(self) -> list[ReplicaSet]:
        return [*self.old, *([self.new] if self.new is not None else [])]

    @property
    def is_scaled(self) -> bool:
        """Whether the wanted number has changed since the replica sets got their sizes."""
        wanted = str(self.limits.wanted)
        return any(
            replica_set.metadata.annotations.get(DESIRED, wanted) != wanted
            for replica_set in active(self.sets)
        )


def size(replica_set: ReplicaSet) -> int:
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


def total(sets: Iterable[ReplicaSet]) -> int:
    return sum(map(size, sets))


def active(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """Return the replica sets that want pods."""
    return [replica_set for replica_set in sets if size(replica_set) > 0]


def new_size(rollout: Rollout) -> int:
    """Return how many pods the new replica set may have now, also before it exists."""
    limits = rollout.limits
    now = size(rollout.new) if rollout.new is not None else 0
    if rollout.deployment.spec.strategy.type != ROLLING_UPDATE or now > limits.wanted:
        return limits.wanted
    room = limits.maximum - total(rollout.old) - now
    return min(now + max(room, 0), limits.wanted)


def rolling_step(rollout: Rollout) -> Sizes:
    """Return the next step of a rolling update: up if there is room, else down if it is safe."""
    new = rollout.new
    assert new is not None, "a rolling update begins with the new replica set"
    grown = new_size(rollout)
    if grown != size(new):
        return {new.metadata.name: grown}
    return _shrunk(rollout, new)


def recreate_step(rollout: Rollout) -> Sizes:
    """Return the sizes with which all old pods end before the first new one begins."""
    running = active(rollout.old)
    if running:
        return {replica_set.metadata.name: 0 for replica_set in running}
    return {rollout.new.metadata.name: rollout.limits.wanted} if rollout.new else {}


def scaled(rollout: Rollout) -> Sizes:
    """Return the sizes after the wanted number has changed, without moving an update on."""
    only = _only_one(rollout)
    if only is not None:
        return {only.metadata.name: rollout.limits.wanted}
    if rollout.new is not None and _is_saturated(rollout, rollout.new):
        return {replica_set.metadata.name: 0 for replica_set in active(rollout.old)}
    if rollout.deployment.spec.strategy.type != ROLLING_UPDATE:
        return {}
    return _proportional(rollout)


def _shrunk(rollout: Rollout, new: ReplicaSet) -> Sizes:
    limits, sets = rollout.limits, rollout.sets
    pending = size(new) - new.status.available_replicas
    removable = total(sets) - limits.minimum - pending
    if removable <= 0 or not total(rollout.old):
        return {}
    sizes = _without_unhealthy(rollout.old, removable)
    # What is available beyond the minimum can go as well, whatever was unhealthy.
    spare = sum(replica_set.status.available_replicas for replica_set in sets) - limits.minimum
    for replica_set in rollout.old:
        left = sizes.get(replica_set.metadata.name, size(replica_set))
        taken = max(min(left, spare), 0)
        if taken:
            sizes[replica_set.metadata.name] = left - taken
            spare -= taken
    return sizes


def _without_unhealthy(old: Sequence[ReplicaSet], removable: int) -> Sizes:
    """Take away pods that are not available first: nobody misses them."""
    sizes: Sizes = {}
    for replica_set in old:
        unhealthy = size(replica_set) - replica_set.status.available_replicas
        taken = min(unhealthy, removable)
        if taken > 0:
            sizes[replica_set.metadata.name] = size(replica_set) - taken
            removable -= taken
    return sizes


def _only_one(rollout: Rollout) -> ReplicaSet | None:
    """Return the replica set that has all pods, or would get them; None if several have pods."""
    having = active(rollout.sets)
    if len(having) > 1:
        return None
    if having:
        return having[0]
    if rollout.new is not None:
        return rollout.new
    return rollout.old[-1] if rollout.old else None


def _is_saturated(rollout: Rollout, new: ReplicaSet) -> bool:
    wanted = rollout.limits.wanted
    return size(new) == wanted == new.status.available_replicas and new.metadata.annotations.get(
        DESIRED
    ) == str(wanted)


def _proportional(rollout: Rollout) -> Sizes:
    """Distribute the difference among all replica sets in proportion to their sizes."""
    limits = rollout.limits
    having = active(rollout.sets)
    allowed = limits.maximum if limits.wanted else 0
    missing = allowed - total(having)
    newest_first = list(reversed(having)) if missing > 0 else having
    ordered = sorted(newest_first, key=size, reverse=True)
    sizes = {replica_set.metadata.name: size(replica_set) for replica_set in ordered}
    added = 0
    for replica_set in ordered:
        share = _share(rollout, replica_set, missing, added)
        sizes[replica_set.metadata.name] += share
        added += share
    if ordered and missing:
        largest = ordered[0].metadata.name
        sizes[largest] = max(sizes[largest] + missing - added, 0)
    return sizes


def _share(rollout: Rollout, replica_set: ReplicaSet, missing: int, added: int) -> int:
    left = missing - added
    if not left:
        return 0
    fraction = _fraction(rollout, replica_set)
    return min(fraction, left) if missing > 0 else max(fraction, left)


def _fraction(rollout: Rollout, replica_set: ReplicaSet) -> int:
    limits, current = rollout.limits, size(replica_set)
    if not limits.wanted:
        return -current
    before = _number(replica_set, MAXIMUM) or rollout.deployment.status.replicas
    if not before:
        return 0
    # Half a pod is rounded up: Python would round it to the even number.
    return int(current * limits.maximum / before + 0.5) - current


def _number(replica_set: ReplicaSet, annotation: str) -> int:
    try:
        return int(replica_set.metadata.annotations.get(annotation, ""))
    except ValueError:
        return 0
