"""The namespace controller: empties namespaces that are being deleted, then lets go of them.

Deleting a namespace only marks it. This loop deletes what is in it, waits for whoever has put
finalizers on that, says in the status what it waits for, and takes the `kubernetes` finalizer off
once nothing is left; with that the namespace is gone.

Every step starts from what is stored, so it does not matter how often it runs, after which
restart, or in how many workers at the same time: whoever comes second finds the work done.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from apimachinery.errors import APIError, Conflict, NotFound
from apimachinery.meta.types import ObjectMeta
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupVersionResource
from apis.core.controllers.namespace_conditions import Findings, set_conditions
from apis.core.controllers.revisits import FIRST_DELAY, LAST_DELAY, Revisits
from apis.core.v1.namespace import FINALIZER_KUBERNETES, TERMINATING, Namespace


class Namespaces(Protocol):
    """What the controller does to namespaces. Writes raise Conflict and NotFound."""

    async def get(self, name: str) -> Namespace | None:
        """The newest state of a namespace."""

    async def update_status(self, namespace: Namespace) -> Namespace: ...

    async def finalize(self, namespace: Namespace) -> Namespace: ...

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[Namespace]]:
        """Every namespace there is, then every one that changes.

        It may end whenever it likes: the controller then starts over, and so sees everything
        again from time to time.
        """


class Contents(Protocol):
    """What the controller does to what is in a namespace."""

    def resources(self) -> Iterable[GroupVersionResource]:
        """The resources whose objects have namespaces and can be deleted, each in one version."""

    async def delete_all(self, resource: GroupVersionResource, namespace: str) -> None:
        """Begin to delete every object; dependents are not orphaned."""

    async def remaining(
        self, resource: GroupVersionResource, namespace: str
    ) -> Sequence[ObjectMeta]:
        """What is there in the newest state, metadata only."""


class NamespaceController:
    """Run `run()` in one worker or in all of them."""

    def __init__(
        self,
        namespaces: Namespaces,
        contents: Contents,
        *,
        now: Callable[[], datetime] = present,
        first_delay: float = FIRST_DELAY,
        last_delay: float = LAST_DELAY,
    ) -> None:
        self._namespaces = namespaces
        self._contents = contents
        self._now = now
        self._revisits = Revisits(
            "emptying namespace", self.sync, first_delay=first_delay, last_delay=last_delay
        )

    async def run(self) -> None:
        """Empty namespaces until cancelled."""
        await self._revisits.run(self._follow)

    async def sync(self, name: str) -> bool:
        """Do what can be done for one namespace now; False if it must be looked at again."""
        try:
            return await self._sync(name)
        except NotFound:
            return True
        except Conflict:
            # Somebody else wrote it: look at what they made of it.
            return False

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        async with self._namespaces.watch() as seen:
            async for namespace in seen:
                if namespace.metadata.deletion_timestamp is not None:
                    self._revisits.wake(namespace.metadata.name, tasks)

    async def _sync(self, name: str) -> bool:
        namespace = await self._namespaces.get(name)
        if namespace is None or namespace.metadata.deletion_timestamp is None:
            return True
        if namespace.status.phase != TERMINATING:
            namespace = namespace.deep_copy()
            namespace.status.phase = TERMINATING
            namespace = await self._namespaces.update_status(namespace)
        if FINALIZER_KUBERNETES not in namespace.spec.finalizers:
            return True  # others hold it up, and they will let go by themselves
        findings = await self._empty(name)
        namespace = namespace.deep_copy()
        if set_conditions(namespace.status, findings, self._now()):
            namespace = (await self._namespaces.update_status(namespace)).deep_copy()
        if not findings.empty:
            return False
        namespace.spec.finalizers.remove(FINALIZER_KUBERNETES)
        await self._namespaces.finalize(namespace)
        return True

    async def _empty(self, name: str) -> Findings:
        """Delete what is in a namespace and say what is left."""
        findings = Findings()
        try:
            resources = list(self._contents.resources())
        except APIError as error:
            findings.discovery_error = str(error)
            return findings
        for resource in resources:
            try:
                left = await self._contents.remaining(resource, name)
                if left:
                    await self._contents.delete_all(resource, name)
                    left = await self._contents.remaining(resource, name)
                findings.add(resource, [meta.finalizers for meta in left])
            except APIError as error:
                findings.errors.append(str(error))
        return findings
