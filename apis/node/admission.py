"""RuntimeClass: pods of a class get its overhead, and run only where the class says."""

from collections.abc import Iterable
from typing import Final

from apimachinery.fieldpath import quote
from apimachinery.schema import GroupResource
from apis.core.v1.node import NO_EXECUTE
from apis.core.v1.pod import Pod
from apis.core.v1.scheduling import Toleration
from apis.node import GROUP
from apis.node.v1 import RuntimeClass, Scheduling
from apiserver import AdmissionPlugin, Attributes, CachedObjects, PluginFunctions, ServerParts

PODS: Final = GroupResource("", "pods")
RUNTIME_CLASSES: Final = GroupResource(GROUP, "runtimeclasses")

_OTHER_OVERHEAD: Final = (
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
)


class RuntimeClasses:
    """Completes new pods by their RuntimeClass."""

    def __init__(self, parts: ServerParts) -> None:
        self._classes = CachedObjects(parts.find_store, RUNTIME_CLASSES, RuntimeClass)

    async def mutate(self, attributes: Attributes) -> None:
        pod = attributes.object
        if not _is_new_pod(attributes) or not isinstance(pod, Pod):
            return
        found = await self._class_of(attributes, pod)
        if found is None:
            return
        if found.overhead is not None:
            if pod.spec.overhead and pod.spec.overhead != found.overhead.pod_fixed:
                raise attributes.forbidden(_OTHER_OVERHEAD)
            pod.spec.overhead = dict(found.overhead.pod_fixed)
        if found.scheduling is not None:
            _restrict_nodes(attributes, pod, found.scheduling)

    async def validate(self, attributes: Attributes) -> None:
        pod = attributes.object
        if not _is_new_pod(attributes) or not isinstance(pod, Pod):
            return
        found = await self._class_of(attributes, pod)
        if found is not None and found.overhead is not None:
            if pod.spec.overhead != found.overhead.pod_fixed:
                raise attributes.forbidden(_OTHER_OVERHEAD)
        elif pod.spec.overhead:
            raise attributes.forbidden(
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            )

    async def _class_of(self, attributes: Attributes, pod: Pod) -> RuntimeClass | None:
        name = pod.spec.runtime_class_name
        if name is None:
            return None
        found = await self._classes.find(name)
        if found is None:
            raise attributes.forbidden(f"pod rejected: RuntimeClass {quote(name)} not found")
        return found


def _is_new_pod(attributes: Attributes) -> bool:
    return attributes.old_object is None and not attributes.subresource


def _restrict_nodes(attributes: Attributes, pod: Pod, scheduling: Scheduling) -> None:
    selector = pod.spec.node_selector
    for key, value in sorted(scheduling.node_selector.items()):
        own = selector.setdefault(key, value)
        if own != value:
            raise attributes.forbidden(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                f" pod.spec.nodeSelector[{key}] = {own}"
            )
    pod.spec.tolerations = merge_tolerations(pod.spec.tolerations, scheduling.tolerations)


def merge_tolerations(
    first: Iterable[Toleration], second: Iterable[Toleration]
) -> list[Toleration]:
    """Return the tolerations of both without those that another one includes."""
    everything = [*first, *(toleration.deep_copy() for toleration in second)]
    merged: list[Toleration] = []
    for position, toleration in enumerate(everything):
        later = everything[position + 1 :]
        if any(_includes(other, toleration) for other in merged):
            continue
        # Of two equal ones, the first stays.
        if any(other != toleration and _includes(other, toleration) for other in later):
            continue
        merged.append(toleration)
    return merged


def _includes(wider: Toleration, narrower: Toleration) -> bool:
    """Return whether a toleration tolerates everything that the other one tolerates."""
    if wider == narrower:
        return True
    every_key = not wider.key and wider.operator == "Exists"
    if narrower.key != wider.key and not every_key:
        return False
    if wider.effect not in (narrower.effect, ""):
        return False
    if wider.effect == NO_EXECUTE and not _lasts(wider, narrower):
        return False
    if wider.operator in ("Equal", ""):
        return narrower.operator == "Equal" and narrower.value == wider.value
    return wider.operator == "Exists"


def _lasts(wider: Toleration, narrower: Toleration) -> bool:
    seconds, needed = wider.toleration_seconds, narrower.toleration_seconds
    return seconds is None or (needed is not None and needed <= seconds)


def _build(parts: ServerParts) -> PluginFunctions:
    classes = RuntimeClasses(parts)
    return PluginFunctions(classes.mutate, classes.validate)


RUNTIME_CLASS: Final = AdmissionPlugin("RuntimeClass", _build, frozenset((PODS,)))
