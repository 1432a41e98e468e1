"""Deployment controller: moves pods from the template they have to the one they should have.

It owns one replica set for each template. In each reconcile it makes the newest one, if it is
missing, takes one step of the plan (`deployment_plan.py`), and reports (`deployment_status.py`).
The replica sets report how their pods are; that is the reason for the next step.
"""

from datetime import datetime
from typing import Final

from apimachinery.errors import AlreadyExists, APIError
from apimachinery.meta.owner_references import is_controlled_by, set_controller
from apimachinery.selectors.label_selector import from_label_selector
from apis.apps.controllers.deployment_plan import (
    ROLLING_UPDATE,
    Rollout,
    Sizes,
    new_size,
    recreate_step,
    rolling_step,
    scaled,
    size,
)
from apis.apps.controllers.deployment_revisions import (
    REVISION,
    annotate,
    annotate_size,
    is_same,
    new_replica_set,
    outdated,
    rollout_of,
)
from apis.apps.controllers.deployment_status import (
    CREATED,
    CREATION_FAILED,
    FOUND,
    PAUSED,
    PROGRESSING,
    RESUMED,
    TIMED_OUT,
    condition_of,
    deadline_of,
    is_complete,
    judge_progress,
    observed_status,
    report_failures,
    seconds_to_deadline,
    set_condition,
)
from apis.apps.v1 import Deployment, ReplicaSet
from apis.core.controllers.claiming import claim
from apis.core.pod_readiness import ENDED
from apis.core.v1.pod import Pod
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.reconciler import Result

NAME: Final = "deployment"


def setup(manager: Manager) -> None:
    """Add the controller to a manager."""
    manager.controller(Deployment, name=NAME, owns=[ReplicaSet], workers=5)(reconcile)


async def reconcile(ctx: Context[Deployment]) -> Result | None:
    """Take one step of the rollout of one deployment."""
    deployment = await ctx.get()
    if deployment is None:
        return None
    if deployment.spec.selector is None:
        return None
    sets = await claim(ctx, deployment, ReplicaSet, from_label_selector(deployment.spec.selector))
    rollout = rollout_of(deployment, sets)
    if deployment.metadata.deletion_timestamp is not None:
        return await _report(ctx, rollout)
    _note_pause(deployment, _now(ctx))
    rollout = await _with_newest_annotated(ctx, rollout)
    if deployment.spec.paused or rollout.is_scaled:
        rollout = await _resized(ctx, rollout, scaled(rollout))
    elif deployment.spec.strategy.type == ROLLING_UPDATE:
        rollout = await _with_newest(ctx, rollout)
        rollout = await _resized(ctx, rollout, rolling_step(rollout))
    else:
        rollout = await _recreated(ctx, rollout)
    if is_complete(deployment, observed_status(rollout, _now(ctx))):
        for replica_set in outdated(rollout):
            await ctx.delete(replica_set)
    return await _report(ctx, rollout)


async def _recreated(ctx: Context[Deployment], rollout: Rollout) -> Rollout:
    """Take one step of a rollout in which no old pod runs beside a new one."""
    step = recreate_step(rollout)
    if any(replica_set.metadata.name in step for replica_set in rollout.old):
        return await _resized(ctx, rollout, step)
    if await _old_pods_run(ctx, rollout):
        return rollout
    rollout = await _with_newest(ctx, rollout)
    return await _resized(ctx, rollout, recreate_step(rollout))


async def _old_pods_run(ctx: Context[Deployment], rollout: Rollout) -> bool:
    selector = from_label_selector(rollout.deployment.spec.selector)
    pods = await ctx.list(Pod, labels=selector)
    return any(
        pod.status.phase not in ENDED and is_controlled_by(pod, replica_set)
        for pod in pods
        for replica_set in rollout.old
    )


async def _with_newest_annotated(ctx: Context[Deployment], rollout: Rollout) -> Rollout:
    """Give the newest replica set, if there is one, what it inherits and its revision."""
    new, deployment = rollout.new, rollout.deployment
    if new is None:
        return rollout
    before = new.deep_copy()
    annotate(new, rollout)
    new.spec.min_ready_seconds = deployment.spec.min_ready_seconds
    if new != before:
        new = await ctx.client.of(ReplicaSet, namespace=ctx.namespace).update(new)
    _note_revision(deployment, new)
    if condition_of(deployment.status, PROGRESSING) is None:
        text = f'Found new replica set "{new.metadata.name}"'
        _note_progress(deployment, "True", FOUND, text, _now(ctx))
    return Rollout(deployment, new, rollout.old)


async def _with_newest(ctx: Context[Deployment], rollout: Rollout) -> Rollout:
    """Create the replica set of today's template unless it exists."""
    if rollout.new is not None:
        return rollout
    deployment = rollout.deployment
    new = new_replica_set(deployment, new_size(rollout))
    set_controller(deployment, new, ctx.kind)
    annotate(new, rollout)
    annotate_size(new, rollout.limits)
    name, count = new.metadata.name, size(new)
    try:
        new = await ctx.client.of(ReplicaSet, namespace=ctx.namespace).create(new)
    except AlreadyExists:
        return await _with_namesake(ctx, rollout, name)
    except APIError as error:
        await _report_failed_creation(ctx, rollout, name, error)
        raise
    if count:
        ctx.event("Normal", "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to {count}")
    _note_revision(deployment, new)
    _note_progress(deployment, "True", CREATED, f'Created new replica set "{name}"', _now(ctx))
    return Rollout(deployment, new, rollout.old)


async def _with_namesake(ctx: Context[Deployment], rollout: Rollout, name: str) -> Rollout:
    """Use the replica set that has the name already, if it is ours; else try another name."""
    deployment = rollout.deployment
    found = await ctx.client.of(ReplicaSet, namespace=ctx.namespace).get(name)
    if is_controlled_by(found, deployment) and is_same(found, deployment):
        return Rollout(deployment, found, rollout.old)

    def collide(newest: Deployment) -> None:
        newest.status.collision_count = (newest.status.collision_count or 0) + 1

    await ctx.modify_status(collide)
    raise NameTaken(f"replica set {name} belongs to somebody else: the next name will differ")


class NameTaken(Exception):
    """The name of a new replica set is taken."""


async def _report_failed_creation(
    ctx: Context[Deployment], rollout: Rollout, name: str, error: APIError
) -> None:
    text = f'Failed to create new replica set "{name}": {error}'
    ctx.event("Warning", CREATION_FAILED, text)
    _note_progress(rollout.deployment, "False", CREATION_FAILED, text, _now(ctx))
    await _report(ctx, rollout)


async def _resized(ctx: Context[Deployment], rollout: Rollout, sizes: Sizes) -> Rollout:
    """Give replica sets their new sizes, and return the rollout with the changed ones."""
    changed = {}
    for replica_set in rollout.sets:
        name, before = replica_set.metadata.name, size(replica_set)
        if name not in sizes:
            continue
        noted = dict(replica_set.metadata.annotations)
        replica_set.spec.replicas = sizes[name]
        annotate_size(replica_set, rollout.limits)
        if before == sizes[name] and noted == replica_set.metadata.annotations:
            continue
        client = ctx.client.of(ReplicaSet, namespace=ctx.namespace)
        changed[name] = await client.update(replica_set)
        if before != sizes[name]:
            way = "up" if before < sizes[name] else "down"
            text = f"Scaled {way} replica set {name} from {before} to {sizes[name]}"
            ctx.event("Normal", "ScalingReplicaSet", text)
    new = rollout.new
    return Rollout(
        rollout.deployment,
        changed.get(new.metadata.name, new) if new is not None else None,
        [changed.get(old.metadata.name, old) for old in rollout.old],
    )


async def _report(ctx: Context[Deployment], rollout: Rollout) -> Result | None:
    now, noted = _now(ctx), rollout.deployment
    status = observed_status(rollout, now)
    if not noted.spec.paused and noted.metadata.deletion_timestamp is None:
        judge_progress(rollout, status, now)
        report_failures(rollout, status)

    def change(newest: Deployment) -> None:
        newest.status = status
        if REVISION in noted.metadata.annotations:
            newest.metadata.annotations[REVISION] = noted.metadata.annotations[REVISION]

    await ctx.modify_status(change)
    if noted.spec.paused:
        return None
    seconds = seconds_to_deadline(noted, status, now)
    return None if seconds is None else Result(requeue_after=seconds)


def _note_pause(deployment: Deployment, now: datetime) -> None:
    """While a rollout is paused its deadline does not run."""
    current = condition_of(deployment.status, PROGRESSING)
    if current is not None and current.reason == TIMED_OUT:
        return
    was_paused = current is not None and current.reason == PAUSED
    if deployment.spec.paused and not was_paused:
        _note_progress(deployment, "Unknown", PAUSED, "Deployment is paused", now)
    elif was_paused and not deployment.spec.paused:
        _note_progress(deployment, "Unknown", RESUMED, "Deployment is resumed", now)


def _note_progress(
    deployment: Deployment, state: str, reason: str, message: str, now: datetime
) -> None:
    if deadline_of(deployment) is not None:
        set_condition(deployment.status, PROGRESSING, state, reason, message, now)


def _note_revision(deployment: Deployment, new: ReplicaSet) -> None:
    deployment.metadata.annotations[REVISION] = new.metadata.annotations.get(REVISION, "")


def _now(ctx: Context[Deployment]) -> datetime:
    return ctx.clock.now().replace(microsecond=0)
