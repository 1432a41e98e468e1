"""Strategy of Pods, and of their subresources `ephemeralcontainers` and `resize`.

Almost nothing in the spec of a pod can change. Ephemeral containers and resources have subresources
of their own: each takes its part from the request, and everything else from the stored pod.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final

from apimachinery.errors import Invalid
from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.ip_addresses import ip_warnings
from apimachinery.meta.options import DeleteOptions
from apimachinery.model.model import deep_copy
from apimachinery.names import is_dns1123_label
from apimachinery.schema import GroupKind
from apis.core import GROUP
from apis.core.strategy.pod_disabled_fields import drop_disabled_pod_fields
from apis.core.strategy.pod_level_resources import complete_pod_resources, keep_omitted_resources
from apis.core.strategy.pod_preparation import (
    PENDING,
    merge_label_keys,
    qos_class,
    set_app_armor_profiles,
    set_condition_of_gates,
)
from apis.core.strategy.pod_warnings import app_armor_warnings, pod_warnings
from apis.core.v1.container import Container
from apis.core.v1.pod import Pod
from apis.core.v1.pod_status import PodStatus
from apis.core.validation.pod import (
    validate_pod,
    validate_pod_ephemeral_containers_update,
    validate_pod_resize,
    validate_pod_status_update,
    validate_pod_update,
)
from apiserver import RequestContext, Strategy

POD: Final = GroupKind(GROUP, "Pod")
FINISHED: Final = ("Failed", "Succeeded")
"""The phases of a pod that will not run again."""


class PodStrategy(Strategy[Pod]):
    """A deletion is graceful if a node runs the pod; its kubelet then removes the pod."""

    qualified_finalizers = True
    ratchets = False
    reset_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "status": ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences")
    }
    returns_deleted_object = True
    status_updates_metadata = True

    def prepare_for_create(self, obj: Pod) -> None:
        obj.status = PodStatus(phase=PENDING)
        drop_disabled_pod_fields(obj, None)
        set_condition_of_gates(obj)
        merge_label_keys(obj)
        set_app_armor_profiles(obj)
        complete_pod_resources(obj.spec)
        obj.status.qos_class = qos_class(obj)

    def prepare_for_update(self, new: Pod, old: Pod) -> None:
        keep_omitted_resources(new.spec, old.spec)
        drop_disabled_pod_fields(new, old)

    def prepare_for_status_update(self, new: Pod, old: Pod) -> None:
        # Old kubelets send owner references without fields that garbage collection needs.
        new.metadata.owner_references = deep_copy(old.metadata.owner_references)
        new.metadata.deletion_timestamp = old.metadata.deletion_timestamp
        _keep_omitted_status(new.status, old.status)
        drop_disabled_pod_fields(new, old)

    def validate(self, obj: Pod) -> FieldErrors:
        yield from validate_pod(obj)

    def validate_update(self, new: Pod, old: Pod) -> FieldErrors:
        yield from validate_pod_update(new, old)

    def validate_status_update(self, new: Pod, old: Pod) -> FieldErrors:
        yield from validate_pod_status_update(new, old)

    def warnings(self, obj: Pod, old: Pod | None = None) -> Iterable[str]:
        if old is not None:
            return _address_warnings(obj.status) if obj.status != old.status else ()
        return [
            *app_armor_warnings(obj.spec, obj.metadata, Path()),
            *_name_warnings(obj),
            *pod_warnings(obj.spec, obj.metadata, Path()),
        ]

    def grace_period(self, obj: Pod, options: DeleteOptions) -> int:
        if not obj.spec.node_name or obj.status.phase in FINISHED:
            return 0
        if options.grace_period_seconds is not None:
            return options.grace_period_seconds
        return obj.spec.termination_grace_period_seconds or 0


async def ephemeral_containers(context: RequestContext, current: Pod, body: Pod | None) -> Pod:
    """Handle `ephemeralcontainers`: return *current* with those of *body*. Raises Invalid."""
    if body is None:
        return current
    changed = _for_body(current, body)
    changed.spec.ephemeral_containers = deep_copy(body.spec.ephemeral_containers)
    return _validated(changed, current, validate_pod_ephemeral_containers_update)


async def resize(context: RequestContext, current: Pod, body: Pod | None) -> Pod:
    """Handle `resize`: return *current* with the resources of *body*. Raises Invalid."""
    if body is None:
        return current
    return _validated(_resized(current, body), current, validate_pod_resize)


def _for_body(current: Pod, body: Pod) -> Pod:
    """Return a copy of *current* with the version that a write with *body* is meant for."""
    changed = current.deep_copy()
    changed.metadata.uid = body.metadata.uid or current.metadata.uid
    changed.metadata.resource_version = body.metadata.resource_version
    changed.metadata.managed_fields = deep_copy(body.metadata.managed_fields)
    return changed


def _resized(current: Pod, body: Pod) -> Pod:
    """Return *current* with the resources of *body*.

    A body with other containers is returned as it is: validation refuses it.
    """
    new, old = body.spec, current.spec
    if len(new.containers) != len(old.containers):
        return body.deep_copy()
    if len(new.init_containers) != len(old.init_containers):
        return body.deep_copy()
    changed = _for_body(current, body)
    changed.spec.resources = deep_copy(new.resources)
    keep_omitted_resources(changed.spec, old)
    changed.spec.containers = _with_resources(old.containers, new.containers)
    changed.spec.init_containers = _with_resources(old.init_containers, new.init_containers)
    complete_pod_resources(changed.spec)
    return changed


def _with_resources(current: list[Container], body: list[Container]) -> list[Container]:
    if [container.name for container in current] != [container.name for container in body]:
        return deep_copy(body)
    changed = deep_copy(current)
    for container, requested in zip(changed, body, strict=True):
        container.resources = requested.resources.deep_copy()
        container.resize_policy = deep_copy(requested.resize_policy)
    return changed


def _validated(changed: Pod, current: Pod, rules: Callable[[Pod, Pod], FieldErrors]) -> Pod:
    drop_disabled_pod_fields(changed, current)
    errors = list(rules(changed, current))
    if errors:
        raise Invalid.of(POD, current.metadata.name, errors)
    return changed


def _keep_omitted_status(new: PodStatus, old: PodStatus) -> None:
    """Keep fields that older kubelets omit."""
    new.qos_class = new.qos_class or old.qos_class
    new.resource_claim_statuses = new.resource_claim_statuses or old.resource_claim_statuses
    if new.extended_resource_claim_status is None:
        new.extended_resource_claim_status = old.extended_resource_claim_status
    new.observed_generation = new.observed_generation or old.observed_generation
    generations: dict[str, deque[int]] = defaultdict(deque)
    for condition in old.conditions:
        generations[condition.type].append(condition.observed_generation)
    for condition in new.conditions:
        known = generations[condition.type]
        before = known.popleft() if known else 0
        condition.observed_generation = condition.observed_generation or before


def _name_warnings(pod: Pod) -> Iterable[str]:
    problems = is_dns1123_label(pod.metadata.name)
    if problems:
        yield (
            "metadata.name: this is used in the Pod's hostname, which can result in surprising"
            f" behavior; a DNS label is recommended: [{' '.join(problems)}]"
        )


def _address_warnings(status: PodStatus) -> Iterable[str]:
    for position, address in enumerate(status.pod_ips):
        yield from ip_warnings(address.ip, Path("status", "podIPs").index(position).child("ip"))
    for position, host in enumerate(status.host_ips):
        yield from ip_warnings(host.ip, Path("status", "hostIPs").index(position).child("ip"))
