"""What is in every namespace: the service account `default`, and how to know the server.

Programs rely on both, so they are made with a namespace and made again when somebody deletes them.
In a namespace that is going admission refuses that, but a worker may hear of the end of a
namespace later than another, which has emptied it already: so whoever makes something looks, after
that, whether the namespace still stands in its newest state, and takes back what came too late.

Every step starts from what is stored, so it may run in every worker: whoever comes second finds
the work done.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from apimachinery.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupResource
from apis.core import GROUP, v1
from apis.core.controllers.revisits import FIRST_DELAY, LAST_DELAY, Revisits

NAMESPACES: Final = GroupResource(GROUP, "namespaces")
ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"

REPAIR_INTERVAL: Final = 60.0
"""Seconds between two repairs of one object: servers that disagree must not fight at full speed."""

REMEMBERED: Final = 10_000
"""Repairs whose time is kept; then all are forgotten, and may be made again."""

_DESCRIPTION: Final = "kubernetes.io/description"
_WHAT_FOR: Final = "The certificates by which a client can tell that it talks to this server."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """An object that every namespace has; *repaired* says what one that was changed should be."""

    resource: GroupResource
    name: str
    make: Callable[[], Any]
    repaired: Callable[[Any], Any] | None = None
    """From the object as it is to what it should be, or None if it is right."""


class Objects(Protocol):
    """What the loop does to objects. Writes raise what a client would be told."""

    async def find(
        self, resource: GroupResource, name: str, *, namespace: str = "", newest: bool = False
    ) -> Any | None:
        """An object as the cache knows it, or in its newest state."""

    async def create(self, resource: GroupResource, obj: Object) -> Any: ...

    async def delete(self, resource: GroupResource, name: str, *, namespace: str, uid: str) -> None:
        """Delete the object that has this uid."""

    async def change(
        self, resource: GroupResource, name: str, edit: Callable[[Any], Any], *, namespace: str
    ) -> object: ...

    def watch(
        self, resource: GroupResource, *, name: str = ""
    ) -> AbstractAsyncContextManager[AsyncIterator[ObjectMeta]]:
        """The metadata of every object (of that name) there is, then of each that changes or goes.

        It may end whenever it likes: the loop then starts over.
        """


def default_account() -> Standing:
    """The account of programs that have no other."""
    resource = GroupResource(GROUP, "serviceaccounts")
    return Standing(resource, ACCOUNT, lambda: v1.ServiceAccount(metadata=ObjectMeta(name=ACCOUNT)))


def root_ca(certificates: str) -> Standing:
    """The certificates by which a client in a namespace knows the server."""
    data = {"ca.crt": certificates}

    def make() -> v1.ConfigMap:
        metadata = ObjectMeta(name=ROOT_CA, annotations={_DESCRIPTION: _WHAT_FOR})
        return v1.ConfigMap(metadata=metadata, data=dict(data))

    def repaired(config: v1.ConfigMap) -> v1.ConfigMap | None:
        if config.data == data and config.metadata.annotations.get(_DESCRIPTION):
            return None
        made = config.deep_copy()
        made.data = dict(data)
        made.metadata.annotations[_DESCRIPTION] = _WHAT_FOR
        return made

    return Standing(GroupResource(GROUP, "configmaps"), ROOT_CA, make, repaired)


class StandingController:
    """Run `run()` in one worker or in all of them."""

    def __init__(
        self,
        objects: Objects,
        standing: Sequence[Standing],
        *,
        clock: Callable[[], float] = time.monotonic,
        first_delay: float = FIRST_DELAY,
        last_delay: float = LAST_DELAY,
    ) -> None:
        self._objects = objects
        self._standing = tuple(standing)
        self._clock = clock
        self._repairs: dict[tuple[str, str], float] = {}
        """Namespace and name of what was repaired, and when."""
        self._revisits = Revisits(
            "keeping up namespace", self.sync, first_delay=first_delay, last_delay=last_delay
        )

    async def run(self) -> None:
        """Keep everything where it belongs until cancelled."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._revisits.run(self._follow_namespaces))
            for one in self._standing:
                loops.create_task(self._revisits.run(partial(self._follow, one)))

    async def sync(self, namespace: str) -> bool:
        """Do what can be done for one namespace now; False if it must be looked at again."""
        done = True
        for one in self._standing:
            try:
                done &= await self._keep(one, namespace)
            except (AlreadyExists, Conflict):
                return False  # somebody else was faster: look at what they made of it
            except (Forbidden, NotFound):
                return True  # the namespace is going
            except Invalid as error:
                log.warning("namespace %s: left as it is: %s", namespace, error)
        return done

    async def _keep(self, one: Standing, namespace: str) -> bool:
        found = await self._objects.find(one.resource, one.name, namespace=namespace)
        if found is None:
            made = one.make()
            made.metadata.namespace = namespace
            created = await self._objects.create(one.resource, made)
            if not await self._stands(namespace):
                await self._take_back(one, created.metadata)
            return True
        if await self._is_missing(namespace):
            await self._take_back(one, found.metadata)
            return True
        repaired = one.repaired
        if repaired is None or repaired(found) is None:
            return True
        if not self._may_repair(namespace, one.name):
            return False
        log.info("namespace %s: %s is not as it should be and is set right", namespace, one.name)
        await self._objects.change(
            one.resource,
            one.name,
            lambda current: repaired(current) or current,
            namespace=namespace,
        )
        return True

    async def _stands(self, namespace: str) -> bool:
        """Whether a namespace is there to stay: what is in it now will be found when it goes."""
        found = await self._objects.find(NAMESPACES, namespace, newest=True)
        return found is not None and found.metadata.deletion_timestamp is None

    async def _is_missing(self, namespace: str) -> bool:
        """Whether somebody who could not take back what they made has left it without a place."""
        if await self._objects.find(NAMESPACES, namespace) is not None:
            return False
        return await self._objects.find(NAMESPACES, namespace, newest=True) is None

    async def _take_back(self, one: Standing, made: ObjectMeta) -> None:
        await self._objects.delete(one.resource, one.name, namespace=made.namespace, uid=made.uid)

    def _may_repair(self, namespace: str, name: str) -> bool:
        now, key = self._clock(), (namespace, name)
        if now - self._repairs.get(key, -REPAIR_INTERVAL) < REPAIR_INTERVAL:
            return False
        if len(self._repairs) >= REMEMBERED:
            self._repairs.clear()
        self._repairs[key] = now
        return True

    async def _follow_namespaces(self, tasks: asyncio.TaskGroup) -> None:
        async with self._objects.watch(NAMESPACES) as seen:
            async for metadata in seen:
                if metadata.deletion_timestamp is None:
                    self._revisits.wake(metadata.name, tasks)

    async def _follow(self, one: Standing, tasks: asyncio.TaskGroup) -> None:
        async with self._objects.watch(one.resource, name=one.name) as seen:
            async for metadata in seen:
                self._revisits.wake(metadata.namespace, tasks)
