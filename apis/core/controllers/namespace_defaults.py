"""Namespace defaults: the default ServiceAccount and the root-CA ConfigMap of every namespace.

Programs rely on both, so the controller creates them with a namespace and recreates them when they
are deleted. Admission refuses that in a terminating namespace, but the worker that admits the
create may not have observed the deletion yet, while the namespace controller has emptied the
namespace already. The controller therefore reads the namespace again after each create, and deletes
an object that came too late.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from apimachinery.meta.types import Object, ObjectMeta
from apis.core import v1
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.interface import ResourceClient
from client.transport.request import ALL_NAMESPACES
from client.workqueue.rate_limiters import ExponentialFailure

ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"

REPAIR_INTERVAL: Final = 60.0
"""Seconds between two repairs of one object: servers that disagree must not fight at full speed."""
MAX_REPAIRS: Final = 10_000
"""Repairs whose time is kept; beyond that all are forgotten, and may be repeated."""
WORKERS: Final = 8
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last retries of a namespace, doubling in between."""

_DESCRIPTION: Final = "kubernetes.io/description"
_PURPOSE: Final = "The certificates by which a client can tell that it talks to this server."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NamespaceDefault:
    """An object that every namespace has."""

    cls: type[Object]
    resource: str
    name: str
    create: Callable[[], Any]
    repair: Callable[[Any], bool] | None = None
    """Corrects an object in place and returns whether it had to; None accepts any content."""

    def collection(self, client: AsyncClient, namespace: str) -> ResourceClient[Any]:
        return client.of(self.cls, namespace=namespace, resource=self.resource, api_version="v1")


def default_account() -> NamespaceDefault:
    """Return the ServiceAccount of programs that have no other."""

    def create() -> v1.ServiceAccount:
        return v1.ServiceAccount(metadata=ObjectMeta(name=ACCOUNT))

    return NamespaceDefault(v1.ServiceAccount, "serviceaccounts", ACCOUNT, create)


def root_ca(certificates: str) -> NamespaceDefault:
    """Return the ConfigMap with the certificates by which a client verifies the server."""
    data = {"ca.crt": certificates}

    def create() -> v1.ConfigMap:
        metadata = ObjectMeta(name=ROOT_CA, annotations={_DESCRIPTION: _PURPOSE})
        return v1.ConfigMap(metadata=metadata, data=dict(data))

    def repair(config: v1.ConfigMap) -> bool:
        if config.data == data and config.metadata.annotations.get(_DESCRIPTION):
            return False
        config.data = dict(data)
        config.metadata.annotations[_DESCRIPTION] = _PURPOSE
        return True

    return NamespaceDefault(v1.ConfigMap, "configmaps", ROOT_CA, create, repair)


class NamespaceDefaultsController:
    """Reconciles each namespace with the objects it should have."""

    def __init__(self, client: AsyncClient, defaults: Sequence[NamespaceDefault]) -> None:
        self._client = client
        self._defaults = tuple(defaults)
        self._repairs: dict[tuple[str, str], float] = {}
        """Namespace and name of each repaired object -> the time of the repair."""

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            v1.Namespace,
            name="namespace-defaults",
            source=MetadataSource(self._namespaces, _unless_terminating, name="namespaces"),
            watches=[
                MetadataSource(
                    default.collection(self._client, ALL_NAMESPACES),
                    _namespace_of,
                    name=f"{default.resource} {default.name}",
                    fields={"metadata.name": default.name},
                )
                for default in self._defaults
            ],
            workers=WORKERS,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, namespace: str, *, now: float = 0.0) -> bool:
        """Create and repair what one namespace lacks; return False to be called again."""
        done = True
        for default in self._defaults:
            try:
                done &= await self._ensure(default, namespace, now)
            except (AlreadyExists, Conflict):
                return False  # another writer was faster: look at the result
            except (Forbidden, NotFound):
                return True  # the namespace is terminating or gone
            except Invalid as error:
                log.warning("namespace %s: %s is left as it is: %s", namespace, default.name, error)
        return done

    async def _reconcile(self, ctx: Context[v1.Namespace]) -> Result | None:
        done = await self.sync(ctx.name, now=ctx.clock.monotonic())
        return None if done else Result(requeue=True)

    @property
    def _namespaces(self) -> ResourceClient[v1.Namespace]:
        return self._client.of(
            v1.Namespace, resource="namespaces", namespaced=False, api_version="v1"
        )

    async def _ensure(self, default: NamespaceDefault, namespace: str, now: float) -> bool:
        collection = default.collection(self._client, namespace)
        try:
            current = await collection.get(default.name)
        except NotFound:
            created = await collection.create(default.create())
            if not await self._is_active(namespace):
                await collection.delete(default.name, uid=created.metadata.uid)
            return True
        if await self._is_missing(namespace):
            # A controller stopped before it could delete an object that came too late.
            await collection.delete(default.name, uid=current.metadata.uid)
            return True
        if default.repair is None or not default.repair(current):
            return True
        if not self._may_repair(namespace, default.name, now):
            return False
        log.info("namespace %s: %s was changed and is repaired", namespace, default.name)
        await collection.update(current)
        return True

    async def _is_active(self, namespace: str) -> bool:
        """Return whether the objects of a namespace will be found when it is emptied."""
        try:
            found = await self._namespaces.metadata.get(namespace)
        except NotFound:
            return False
        return found.metadata.deletion_timestamp is None

    async def _is_missing(self, namespace: str) -> bool:
        try:
            await self._namespaces.metadata.get(namespace)
        except NotFound:
            return True
        return False

    def _may_repair(self, namespace: str, name: str, now: float) -> bool:
        last = self._repairs.get((namespace, name))
        if last is not None and now - last < REPAIR_INTERVAL:
            return False
        if len(self._repairs) >= MAX_REPAIRS:
            self._repairs.clear()
        self._repairs[namespace, name] = now
        return True


def _unless_terminating(change: MetadataChange) -> Iterable[NamespacedName]:
    if not change.deleted and change.metadata.deletion_timestamp is None:
        yield NamespacedName("", change.metadata.name)


def _namespace_of(change: MetadataChange) -> Iterable[NamespacedName]:
    yield NamespacedName("", change.metadata.namespace)
