"""Pods of a namespace: which of them a stricter level would not allow.

They keep running, so the user who sets the label is only warned. A namespace may have any number of
pods: this checks as many as it can in a second, those of different controllers first, and lets
other requests run in between.
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from apimachinery.meta.options import ListOptions
from apimachinery.meta.owner_references import controller_of
from apis.core.pod_security.checks import violations
from apis.core.pod_security.levels import LevelVersion
from apis.core.pod_security.violation import PodToCheck
from apis.core.v1.pod import Pod
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import EntrySelection
from apiserver.time_slices import TimeSlices

MAX_PODS: Final = 3000
MAX_SECONDS: Final = 1.0


@dataclass(slots=True)
class _Offenders:
    """The pods that are refused for the same reasons."""

    first: str
    count: int = 1

    def add(self, name: str) -> None:
        self.first = min(self.first, name)
        self.count += 1

    def __str__(self) -> str:
        others = self.count - 1
        if not others:
            return self.first
        return f"{self.first} (and {others} other pod{'' if others == 1 else 's'})"


@dataclass(slots=True)
class _Findings:
    checked: int = 0
    offenders: dict[str, _Offenders] = field(default_factory=dict)

    def add(self, pod: Pod, demand: LevelVersion) -> None:
        self.checked += 1
        found = violations(demand, PodToCheck(pod.spec, pod.metadata.annotations))
        if not found:
            return
        reasons = ", ".join(violation.reason for violation in found)
        if reasons in self.offenders:
            self.offenders[reasons].add(pod.metadata.name)
        else:
            self.offenders[reasons] = _Offenders(pod.metadata.name)


async def pod_warnings(
    store: ResourceStore[Any],
    namespace: str,
    demand: LevelVersion,
    *,
    exempt_classes: Collection[str],
) -> list[str]:
    """Return what to tell a user who sets a stricter level to enforce."""
    page = await store.list(EntrySelection(namespace=namespace), ListOptions(resource_version="0"))
    exempt, findings = 0, _Findings()
    end = monotonic() + MAX_SECONDS
    async for pod in _of_different_controllers(store, page.entries):
        if pod.spec.runtime_class_name in exempt_classes:
            exempt += 1
            continue
        findings.add(pod, demand)
        if findings.checked >= MAX_PODS or monotonic() > end:
            break
    return list(_texts(namespace, demand, findings, len(page.entries) - exempt))


async def _of_different_controllers(
    store: ResourceStore[Any], entries: Collection[Any]
) -> AsyncIterator[Pod]:
    """Yield one pod of each controller and those without, then the others."""
    slices, seen, similar = TimeSlices(), set[str](), []
    for entry in entries:
        await slices.yield_loop()
        pod = store.decode(entry)
        controller = controller_of(pod)
        if controller is not None and controller.uid in seen:
            similar.append(entry)
            continue
        if controller is not None:
            seen.add(controller.uid)
        yield pod
    for entry in similar:
        await slices.yield_loop()
        yield store.decode(entry)


def _texts(namespace: str, demand: LevelVersion, findings: _Findings, total: int) -> list[str]:
    texts = []
    if findings.checked < total:
        texts.append(
            "new PodSecurity enforce level only checked against the first"
            f" {findings.checked} of {total} existing pods"
        )
    if findings.offenders:
        texts.append(
            f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level'
            f' "{demand}"'
        )
    offenders = findings.offenders.items()
    return [*texts, *sorted(f"{who}: {reasons}" for reasons, who in offenders)]
