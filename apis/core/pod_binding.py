"""Binding: the assignment of a pod to a node, by the scheduler.

A Binding is created at the subresource `binding` of a pod, or as the resource `bindings`. Nothing
but the pod is stored. Its node never changes again, so a second binding is a conflict.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from apimachinery.errors import BadRequest, Conflict, Invalid
from apimachinery.meta.status import Status
from apimachinery.meta.types import Preconditions
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupResource, GroupVersionKind
from apis.core import GROUP
from apis.core.strategy.pod_preparation import SCHEDULED, set_pod_condition
from apis.core.v1.binding import Binding
from apis.core.v1.pod import Pod
from apis.core.v1.pod_status import PodCondition
from apis.core.validation.pod import validate_pod_binding
from apiserver import RequestContext, ServerParts

KIND: Final = GroupVersionKind(GROUP, "v1", "Binding")
PODS: Final = GroupResource(GROUP, "pods")
_BINDING: Final = GroupResource(GROUP, "pods/binding")


class PodBinding:
    """Binds pods to nodes."""

    def __init__(self, parts: ServerParts, *, now: Callable[[], datetime] = present) -> None:
        self._find_store = parts.find_store
        self._now = now

    async def at_pod(self, context: RequestContext, pod: Pod, binding: Binding) -> Status:
        """Handle a POST to the subresource of *pod*."""
        if binding.metadata.name != pod.metadata.name:
            raise BadRequest("name in URL does not match name in Binding object")
        return await self.bind(context, binding)

    async def bind(self, context: RequestContext, binding: Binding) -> Status:
        """Set the node of the pod that *binding* names, with its labels and annotations.

        Raises BadRequest, Invalid, NotFound, or Conflict if the pod has a node or is being deleted.
        """
        _check(binding, context.namespace)

        def assign(pod: Pod) -> Pod:
            return _assigned(pod, binding, self._now())

        meta = binding.metadata
        expected = Preconditions(
            uid=meta.uid or None, resource_version=meta.resource_version or None
        )
        store: Any = self._find_store(PODS)
        await store.rewrite(
            meta.name, assign, context, preconditions=expected, dry_run=context.dry_run
        )
        return Status(kind="Status", api_version="v1", status="Success", code=201)


def _check(binding: Binding, namespace: str) -> None:
    if binding.metadata.namespace not in ("", namespace):
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    errors = list(validate_pod_binding(binding))
    if errors:
        raise Invalid.of(KIND.group_kind, binding.metadata.name, errors)


def _assigned(pod: Pod, binding: Binding, now: datetime) -> Pod:
    name = pod.metadata.name
    if pod.metadata.deletion_timestamp is not None:
        raise _conflict(name, f"pod {name} is being deleted, cannot be assigned to a host")
    if pod.spec.node_name:
        raise _conflict(name, f'pod {name} is already assigned to node "{pod.spec.node_name}"')
    if pod.spec.scheduling_gates:
        raise _conflict(name, f"pod {name} has non-empty .spec.schedulingGates")
    pod.spec.node_name = binding.target.name
    pod.status.nominated_node_name = ""
    pod.metadata.annotations |= binding.metadata.annotations
    pod.metadata.labels |= binding.metadata.labels
    set_pod_condition(pod.status, PodCondition(type=SCHEDULED, status="True"), now)
    return pod


def _conflict(name: str, reason: str) -> Conflict:
    return Conflict.of(_BINDING, name, reason)
