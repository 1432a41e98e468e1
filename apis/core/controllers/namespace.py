"""Namespace controller: empties terminating namespaces, then removes their finalizer.

Deleting a namespace only marks it. This controller deletes its contents, waits for the finalizers
on them, reports in the status what it waits for, and removes the `kubernetes` finalizer once
nothing is left; the server then removes the namespace.

Whether anything is left is asked of the store: it may contain objects of groups that only another
server serves, or none any more. Servers with different groups each empty what they serve, and all
of them report the same, so that they do not overwrite each other's conditions.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from apimachinery.errors import APIError, Conflict, MethodNotAllowed, NotFound
from apimachinery.meta.types import PartialObjectMetadata
from apimachinery.resources import Scope, ServedResource
from apimachinery.scalars.time import now as current_time
from apis.core.controllers.namespace_conditions import Findings, Remaining, set_conditions
from apis.core.v1.namespace import FINALIZER_KUBERNETES, TERMINATING, Namespace
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.interface import DeleteArguments, ResourceClient
from client.workqueue.rate_limiters import ExponentialFailure

WORKERS: Final = 8
PAGE: Final = 200
"""Objects deleted with one request: their metadata is decoded at once."""
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last attempts at a namespace, doubling in between."""

_OPTIONS: Final[DeleteArguments] = {"propagation": "Background"}

Resources = Callable[[], Awaitable[Sequence[ServedResource]]]
"""Returns the resources that can be listed and deleted, each in one version."""
Stored = Callable[[str], Awaitable[Sequence[Remaining]]]
"""Returns what the store contains in a namespace, whoever serves it."""
DeleteUnreachable = Callable[[str], Awaitable[None]]
"""Deletes the objects in a namespace that this server has but that no client can delete."""


class NamespaceController:
    """Reconciles each terminating namespace; *resources* returns what this server empties it of."""

    def __init__(
        self,
        client: AsyncClient,
        resources: Resources,
        stored: Stored,
        delete_unreachable: DeleteUnreachable,
        *,
        now: Callable[[], datetime] = current_time,
    ) -> None:
        self._client = client
        self._resources = resources
        self._stored = stored
        self._delete_unreachable = delete_unreachable
        self._now = now
        self._unfinished: dict[str, str] = {}
        """The name and uid of each namespace that is being emptied, and retried until it is."""

    def add_to(self, manager: Manager) -> None:
        self._unfinished.clear()
        manager.controller(
            Namespace,
            name="namespace",
            source=MetadataSource(self._namespaces, self._if_begun, name="namespaces"),
            workers=WORKERS,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, name: str) -> bool:
        """Do for one namespace what can be done now; return False to be called again."""
        try:
            return await self._sync(name)
        except NotFound:
            return True
        except Conflict:
            return False  # another writer was faster: look at the result

    async def _reconcile(self, ctx: Context[Namespace]) -> Result | None:
        done = await self.sync(ctx.name)
        if done:
            self._unfinished.pop(ctx.name, None)
        return None if done else Result(requeue=True)

    def _if_begun(self, change: MetadataChange) -> Iterable[NamespacedName]:
        """Request a reconcile when the deletion of a namespace begins.

        Later changes are mostly conditions. To act on those of other servers at once, instead of
        when the namespace is next retried, would let two servers that disagree write forever.
        """
        metadata = change.metadata
        if change.deleted or metadata.deletion_timestamp is None:
            return
        if self._unfinished.get(metadata.name) != metadata.uid:
            self._unfinished[metadata.name] = metadata.uid
            yield NamespacedName("", metadata.name)

    @property
    def _namespaces(self) -> ResourceClient[Namespace]:
        return self._client.of(Namespace, resource="namespaces", namespaced=False, api_version="v1")

    async def _sync(self, name: str) -> bool:
        namespace = await self._namespaces.get(name)
        if namespace.metadata.deletion_timestamp is None:
            return True
        if namespace.status.phase != TERMINATING:
            namespace.status.phase = TERMINATING
            namespace = await self._namespaces.status.update(namespace)
        if FINALIZER_KUBERNETES not in namespace.spec.finalizers:
            return True  # finalizers of others remain, and whoever removes the last ends it
        findings = await self._empty(name)
        if set_conditions(namespace.status, findings, self._now()):
            namespace = await self._namespaces.status.update(namespace)
        if not findings.empty:
            return False
        namespace.spec.finalizers.remove(FINALIZER_KUBERNETES)
        await self._namespaces.subresource("finalize", Namespace).update(namespace)
        return True

    async def _empty(self, name: str) -> Findings:
        """Delete the contents of a namespace that this server has; return what is left in all."""
        findings = Findings()
        try:
            resources = await self._resources()
        except APIError as error:
            findings.discovery_error = str(error)
            return findings
        for resource in resources:
            if resource.scope is not Scope.NAMESPACED:
                continue
            try:
                await self._empty_of(resource, name)
            except APIError as error:
                findings.errors.append(str(error))
        try:
            await self._delete_unreachable(name)
            findings.remaining = await self._stored(name)
        except APIError as error:
            findings.errors.append(str(error))
        return findings

    async def _empty_of(self, resource: ServedResource, name: str) -> None:
        contents = self._client.of(
            PartialObjectMetadata,
            namespace=name,
            resource=resource.plural,
            api_version=str(resource.kind.group_version),
        ).metadata
        if not (await contents.page(limit=1)).items:
            return
        try:
            page = await contents.delete_collection(options=_OPTIONS, limit=PAGE)
            while page.continue_:
                page = await contents.delete_collection(
                    options=_OPTIONS, limit=PAGE, continue_=page.continue_
                )
        except MethodNotAllowed:
            async for obj in contents.list():
                uid = obj.metadata.uid
                await contents.delete(obj.metadata.name, uid=uid, propagation="Background")
