"""Definition cleanup: deletes the objects of a terminating CustomResourceDefinition.

The definition itself stays, with a finalizer, until none of its objects is left.
"""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Final

from apimachinery.errors import APIError, Conflict, NotFound
from apimachinery.meta.types import PartialObjectMetadata
from apimachinery.scalars.time import now as current_time
from apimachinery.schema import GroupResource
from apis.apiextensions.conditions import ESTABLISHED, TERMINATING, is_true, set_condition
from apis.apiextensions.controllers.definition_head import DefinitionHead
from apis.apiextensions.controllers.definition_names import RETRY_DELAYS, definitions
from apis.apiextensions.v1 import CustomResourceDefinitionCondition
from apis.apiextensions.v1.definition import FINALIZER
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.interface import ResourceClient
from client.transport.request import ALL_NAMESPACES
from client.workqueue.rate_limiters import ExponentialFailure

WORKERS: Final = 4
_IN_PROGRESS: Final = "CustomResource deletion is in progress"


class DefinitionCleanupController:
    """Reconciles each terminating definition.

    *is_built_in* returns whether the server has a group itself: the objects in it are not those of
    a definition. *delete_unserved* deletes the objects of a resource that is served in no version,
    which no client can reach, and returns whether none is left.
    """

    def __init__(
        self,
        client: AsyncClient,
        is_built_in: Callable[[str], bool],
        delete_unserved: Callable[[GroupResource], Awaitable[bool]],
        *,
        now: Callable[[], datetime] = current_time,
    ) -> None:
        self._client = client
        self._definitions = definitions(client)
        self._is_built_in = is_built_in
        self._delete_unserved = delete_unserved
        self._now = now

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            DefinitionHead,
            name="definition-cleanup",
            source=MetadataSource(self._definitions, _if_terminating, name="definitions"),
            workers=WORKERS,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, name: str) -> bool:
        """Do for one definition what can be done now; return False to be called again."""
        try:
            return await self._sync(await self._definitions.get(name))
        except NotFound:
            return True
        except Conflict:
            return False  # another writer was faster: look at the result

    async def _reconcile(self, ctx: Context[DefinitionHead]) -> Result | None:
        return None if await self.sync(ctx.name) else Result(requeue=True)

    async def _sync(self, definition: DefinitionHead) -> bool:
        meta = definition.metadata
        if meta.deletion_timestamp is None or FINALIZER not in meta.finalizers:
            return True
        if is_true(definition, ESTABLISHED) and not self._is_built_in(definition.spec.group):
            definition = await self._report(definition, "InstanceDeletionInProgress", _IN_PROGRESS)
            try:
                if not await self._delete_instances(definition):
                    return False
            except NotFound:
                return False  # the leader does not serve the resource yet
            except APIError as error:
                failure = f"could not delete the instances: {error.message}"
                await self._report(definition, "InstanceDeletionFailed", failure)
                return False
        definition = await self._report(
            definition, "InstanceDeletionCompleted", "removed all instances", status="False"
        )
        meta = definition.metadata
        remaining = [finalizer for finalizer in meta.finalizers if finalizer != FINALIZER]
        patch = {"resourceVersion": meta.resource_version, "finalizers": remaining}
        await self._definitions.patch(meta.name, {"metadata": patch})
        return True

    async def _delete_instances(self, definition: DefinitionHead) -> bool:
        """Delete every object; return whether none is left."""
        spec = definition.spec
        served = [version for version in spec.versions if version.served]
        # Nothing needs to be converted in the storage version, so no webhook is asked.
        served.sort(key=lambda version: not version.storage)
        version = served[0].name if served else None
        if version is None:
            return await self._delete_unserved(GroupResource(spec.group, spec.names.plural))
        instances = self._instances(definition, version)
        if definition.spec.scope == "Namespaced":
            # A collection is deleted in one namespace at a time.
            namespaces = {obj.metadata.namespace async for obj in instances.list()}
            collections = [instances.in_namespace(namespace) for namespace in sorted(namespaces)]
        else:
            collections = [instances]
        for collection in collections:
            await collection.delete_collection(options={"propagation": "Background"})
        return not (await instances.page(limit=1)).items

    def _instances(
        self, definition: DefinitionHead, version: str
    ) -> ResourceClient[PartialObjectMetadata]:
        spec = definition.spec
        return self._client.of(
            PartialObjectMetadata,
            namespace=ALL_NAMESPACES,
            resource=spec.names.plural,
            namespaced=spec.scope == "Namespaced",
            api_version=f"{spec.group}/{version}",
        ).metadata

    async def _report(
        self, definition: DefinitionHead, reason: str, message: str, status: str = "True"
    ) -> DefinitionHead:
        condition = CustomResourceDefinitionCondition(
            type=TERMINATING, status=status, reason=reason, message=message
        )
        if not set_condition(definition, condition, self._now()):
            return definition
        return await self._definitions.status.update(definition)


def _if_terminating(change: MetadataChange) -> Iterable[NamespacedName]:
    if not change.deleted and change.metadata.deletion_timestamp is not None:
        yield NamespacedName("", change.metadata.name)
