"""Service registration: keeps a local APIService for every group version that a server has.

Those of built-in groups are labelled `onstart`: they are created when the controller starts, and an
administrator may replace one afterwards. Those of custom resources are labelled `true`: they come
and go with the versions that are served. An APIService without the label is left alone.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from apimachinery.errors import AlreadyExists, Conflict, NotFound
from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupVersion
from apis.apiregistration import GROUP
from apis.apiregistration.priorities import priority_of
from apis.apiregistration.v1 import APIService, APIServiceSpec
from apis.apiregistration.v1.types import AUTOMANAGED, ON_START
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.reconciler import NamespacedName, Result
from client.controller.sources import SourceScope
from client.workqueue.rate_limiters import ExponentialFailure

MANAGER: Final = "kube-apiserver"
"""The field manager of registered APIServices."""
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last retries, doubling in between."""

_ALWAYS: Final = "true"
_ALL: Final = NamespacedName("", "all")

ServedVersions = Callable[[], Iterable[tuple[GroupVersion, bool]]]
"""Returns each served group version, and whether its group is built in."""


class ServiceRegistrationController:
    """Registers all group versions at once, at the start and when *changed* returns."""

    def __init__(
        self,
        client: AsyncClient,
        versions: ServedVersions,
        changed: Callable[[], Awaitable[object]],
    ) -> None:
        self._services = client.of(
            APIService, resource="apiservices", namespaced=False, api_version=f"{GROUP}/v1"
        ).as_manager(MANAGER)
        self._versions = versions
        self._changed = changed
        self._registered: set[str] = set()

    def add_to(self, manager: Manager) -> None:
        self._registered = set()
        manager.controller(
            APIService,
            name="service-registration",
            source=_GroupChanges(self._changed),
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def _reconcile(self, ctx: Context[APIService]) -> Result | None:
        return None if await self.sync() else Result(requeue=True)

    async def sync(self) -> bool:
        """Create, correct and remove APIServices; return False if another writer interfered."""
        stored = {obj.metadata.name: obj for obj in (await self._services.list().all()).items}
        desired = [local_service(*served) for served in self._versions()]
        complete = True
        for service in desired:
            name = service.metadata.name
            if service.metadata.labels[AUTOMANAGED] == ON_START and name in self._registered:
                continue
            complete &= await self._register(service, stored.get(name))
            self._registered.add(name)
        served = {service.metadata.name for service in desired}
        for name, current in stored.items():
            if name not in served and current.metadata.labels.get(AUTOMANAGED) == _ALWAYS:
                complete &= await self._remove(current)
        return complete

    async def _register(self, service: APIService, current: APIService | None) -> bool:
        try:
            if current is None:
                await self._services.create(service)
            elif AUTOMANAGED in current.metadata.labels and current.spec != service.spec:
                current.spec = service.spec
                await self._services.update(current)
        except (AlreadyExists, Conflict, NotFound):
            return False
        return True

    async def _remove(self, service: APIService) -> bool:
        try:
            await self._services.delete(service.metadata.name, uid=service.metadata.uid)
        except (Conflict, NotFound):
            return False
        return True


def local_service(version: GroupVersion, is_built_in: bool) -> APIService:
    """Return the APIService of a group version that this server serves."""
    priority = priority_of(version)
    return APIService(
        metadata=ObjectMeta(
            name=f"{version.version}.{version.group}",
            labels={AUTOMANAGED: ON_START if is_built_in else _ALWAYS},
        ),
        spec=APIServiceSpec(
            group=version.group,
            version=version.version,
            group_priority_minimum=priority.group,
            version_priority=priority.version,
        ),
    )


class _GroupChanges:
    """Enqueues one request at the start and after each change of the served groups."""

    name = "served groups"
    idle = True

    def __init__(self, changed: Callable[[], Awaitable[object]]) -> None:
        self._changed = changed

    async def warm_up(self, scope: SourceScope) -> None:
        """Do nothing: there is no cache."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        synced()
        while True:
            scope.queue.add(_ALL)
            await self._changed()
