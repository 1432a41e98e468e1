"""Revisions: a deployment keeps one replica set for each template that it has had.

The replica set of today's template is the newest; its name ends in a hash of the template. Its
revision is one more than that of every other, so that `kubectl rollout undo` can name the one to
return to. Old replica sets are kept up to `revisionHistoryLimit`.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

from apimachinery.meta.types import LabelSelector, ObjectMeta
from apimachinery.names import encode_generated
from apis.apps.controllers.deployment_plan import DESIRED, MAXIMUM, Rollout, RolloutLimits, size
from apis.apps.v1 import Deployment, ReplicaSet
from apis.apps.v1.replica_set import ReplicaSetSpec
from apis.core.v1.pod_template import PodTemplateSpec

TEMPLATE_HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
HISTORY: Final = "deployment.kubernetes.io/revision-history"
"""Annotation of a replica set: the revisions that it had before a rollback made it the newest."""
MAX_HISTORY: Final = 2000
"""The maximum length of that annotation."""

_OWN: Final = frozenset(
    (
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.rollbackTo",
        REVISION,
        HISTORY,
        DESIRED,
        MAXIMUM,
    )
)
"""Annotations that replica sets do not inherit from their deployment."""
_START: Final = datetime.fromtimestamp(0, UTC)


def rollout_of(deployment: Deployment, sets: Sequence[ReplicaSet]) -> Rollout:
    """Find the newest replica set: the oldest that has the template of the deployment."""
    by_age = sorted(sets, key=_age)
    wanted = _without_hash(deployment.spec.template)
    new = next((one for one in by_age if _without_hash(one.spec.template) == wanted), None)
    return Rollout(deployment, new, [one for one in by_age if one is not new])


def new_replica_set(deployment: Deployment, replicas: int) -> ReplicaSet:
    """Return the replica set of today's template, without an owner and a revision."""
    suffix = template_hash(deployment)
    template = deployment.spec.template.deep_copy()
    template.metadata.labels = {**template.metadata.labels, TEMPLATE_HASH: suffix}
    selector = (deployment.spec.selector or LabelSelector()).deep_copy()
    selector.match_labels = {**selector.match_labels, TEMPLATE_HASH: suffix}
    return ReplicaSet(
        metadata=ObjectMeta(
            name=f"{deployment.metadata.name}-{suffix}",
            namespace=deployment.metadata.namespace,
            labels=dict(template.metadata.labels),
        ),
        spec=ReplicaSetSpec(
            replicas=replicas,
            min_ready_seconds=deployment.spec.min_ready_seconds,
            selector=selector,
            template=template,
        ),
    )


def template_hash(deployment: Deployment) -> str:
    """Return a short name for the template; another one after each collision."""
    content = deployment.spec.template.model_dump_json(by_alias=True, exclude_defaults=True)
    document = json.dumps(json.loads(content), sort_keys=True).encode()
    collisions = deployment.status.collision_count
    salt = b"" if collisions is None else str(collisions).encode()
    digest = blake2b(document + salt, digest_size=4).digest()
    return encode_generated(int.from_bytes(digest))


def annotate(replica_set: ReplicaSet, rollout: Rollout) -> None:
    """Give the newest replica set the annotations of its deployment, and the highest revision."""
    annotations = replica_set.metadata.annotations
    inherited = rollout.deployment.metadata.annotations
    annotations.update({key: text for key, text in inherited.items() if key not in _OWN})
    highest = max((revision(old) for old in rollout.old), default=0) + 1
    before = annotations.get(REVISION, "")
    if revision(replica_set) >= highest:
        return
    annotations[REVISION] = str(highest)
    if before:
        history = [*filter(None, annotations.get(HISTORY, "").split(",")), before]
        while len(",".join(history)) > MAX_HISTORY:
            history.pop(0)
        annotations[HISTORY] = ",".join(history)


def annotate_size(replica_set: ReplicaSet, limits: RolloutLimits) -> None:
    """Note what the replica set's size is a part of, so that scaling can keep the proportion."""
    replica_set.metadata.annotations[DESIRED] = str(limits.wanted)
    replica_set.metadata.annotations[MAXIMUM] = str(limits.maximum)


def revision(replica_set: ReplicaSet) -> int:
    try:
        return int(replica_set.metadata.annotations.get(REVISION, ""))
    except ValueError:
        return 0


def outdated(rollout: Rollout) -> list[ReplicaSet]:
    """Return the old replica sets beyond the limit of the history, if they have no pods."""
    limit = rollout.deployment.spec.revision_history_limit
    alive = [one for one in rollout.old if one.metadata.deletion_timestamp is None]
    if limit is None or len(alive) <= limit:
        return []
    oldest = sorted(alive, key=lambda one: (revision(one), _age(one)))[: len(alive) - limit]
    return [one for one in oldest if not size(one) and not one.status.replicas and _is_settled(one)]


def is_same(replica_set: ReplicaSet, deployment: Deployment) -> bool:
    """Return whether the replica set has the template of the deployment."""
    return _without_hash(replica_set.spec.template) == _without_hash(deployment.spec.template)


def _is_settled(replica_set: ReplicaSet) -> bool:
    return replica_set.metadata.generation <= replica_set.status.observed_generation


def _age(replica_set: ReplicaSet) -> tuple[datetime, str]:
    meta = replica_set.metadata
    return meta.creation_timestamp or _START, meta.name


def _without_hash(template: PodTemplateSpec) -> PodTemplateSpec:
    if TEMPLATE_HASH not in template.metadata.labels:
        return template
    copy = template.deep_copy()
    del copy.metadata.labels[TEMPLATE_HASH]
    return copy
