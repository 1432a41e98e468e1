"""Protection of storage: a deleted claim, volume or attributes class stays while it is in use.

Admission gives new ones a finalizer (`apis.core.admission.storage_protection`), which is removed
here: from a claim once no pod on a node mounts it, from a volume once no claim is bound to it, from
an attributes class once no claim and no volume names it. Only deleted objects are looked at.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from apimachinery.errors import Conflict, NotFound
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupResource
from apis.core.admission.storage_protection import FINALIZERS
from apis.core.v1.persistent_volume import PersistentVolume
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.v1.pod import Pod
from apis.storage.v1 import VolumeAttributesClass
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.interface import ResourceClient
from client.transport.request import ALL_NAMESPACES

log = logging.getLogger(__name__)

ObjectT = TypeVar("ObjectT", bound=Object)

RECHECK_SECONDS: Final = 30.0
"""When an object that is in use is looked at again, if nothing that uses it is deleted before."""

CLAIMS: Final = GroupResource("", "persistentvolumeclaims")
VOLUMES: Final = GroupResource("", "persistentvolumes")
ATTRIBUTES_CLASSES: Final = GroupResource("storage.k8s.io", "volumeattributesclasses")

_BOUND: Final = "Bound"


class StorageProtection:
    """The controllers of the protected resources that a server has."""

    def __init__(self, client: AsyncClient) -> None:
        self._claims = _collection(client, PersistentVolumeClaim, CLAIMS, namespaced=True)
        self._volumes = _collection(client, PersistentVolume, VOLUMES)
        self._classes = _collection(client, VolumeAttributesClass, ATTRIBUTES_CLASSES)
        self._pods = _collection(client, Pod, GroupResource("", "pods"), namespaced=True)

    def add_to(self, manager: Manager, *, attributes_classes: bool = True) -> None:
        """Add the controllers; those of attributes classes only if the server has any."""
        claims = _Protection(CLAIMS, self._claims, self._is_mounted)
        claims.add_to(manager, "pvc-protection-controller", users=(self._pods,))
        volumes = _Protection(VOLUMES, self._volumes, _is_bound)
        volumes.add_to(manager, "pv-protection-controller")
        if attributes_classes:
            classes = _Protection(ATTRIBUTES_CLASSES, self._classes, self._is_named)
            users = (self._claims, self._volumes)
            classes.add_to(manager, "vac-protection-controller", users=users)

    async def _is_mounted(self, claim: Any) -> bool:
        meta = claim.metadata
        pods = self._pods.in_namespace(meta.namespace)
        return any([mounts(pod, meta.name) async for pod in pods.list()])

    async def _is_named(self, attributes_class: Any) -> bool:
        name = attributes_class.metadata.name
        async for volume in self._volumes.list():
            if volume.spec.volume_attributes_class_name == name:
                return True
        async for claim in self._claims.list():
            if name in _classes_of(claim):
                return True
        return False


@dataclass
class _Protection:
    """Removes the finalizer of one resource."""

    resource: GroupResource
    collection: ResourceClient[Any]
    is_used: Callable[[Any], Awaitable[bool]]
    waiting: set[NamespacedName] = field(default_factory=set)
    """Deleted objects that are in use."""

    def add_to(
        self, manager: Manager, name: str, *, users: Iterable[ResourceClient[Any]] = ()
    ) -> None:
        """Add the controller; the deletion of one of *users* may release an object."""
        plural = self.resource.resource
        source = MetadataSource(self.collection, name=plural, tracks=_is_terminating)
        watches = [
            MetadataSource(
                user, self._waiting_for, name=f"users of {plural}", tracks=lambda _: False
            )
            for user in users
        ]
        manager.controller(Object, name=name, source=source, watches=watches)(self._reconcile)

    def _waiting_for(self, change: MetadataChange) -> Iterable[NamespacedName]:
        """Return the objects that an object may have used that is deleted."""
        namespace = change.metadata.namespace
        return [each for each in self.waiting if each.namespace in ("", namespace)]

    async def _reconcile(self, ctx: Context[Object]) -> Result | None:
        self.waiting.discard(ctx.request)
        collection = self.collection
        if ctx.request.namespace:
            collection = collection.in_namespace(ctx.request.namespace)
        try:
            found = await collection.get(ctx.request.name)
            meta, finalizer = found.metadata, FINALIZERS[self.resource]
            if not _is_terminating(meta) or finalizer not in meta.finalizers:
                return None
            if await self.is_used(found):
                self.waiting.add(ctx.request)
                return Result(requeue_after=RECHECK_SECONDS)
            remaining = [each for each in meta.finalizers if each != finalizer]
            patch = {"resourceVersion": meta.resource_version, "finalizers": remaining}
            await collection.patch(meta.name, {"metadata": patch})
        except NotFound:
            log.debug("%s %s is gone", self.resource.resource, ctx.request.name)
        except Conflict:
            # The change of another writer is reconciled as well.
            log.debug("%s %s has changed", self.resource.resource, ctx.request.name)
        return None


def _collection(
    client: AsyncClient, cls: type[ObjectT], resource: GroupResource, *, namespaced: bool = False
) -> ResourceClient[ObjectT]:
    return client.of(
        cls,
        namespace=ALL_NAMESPACES if namespaced else None,
        resource=resource.resource,
        namespaced=namespaced,
        api_version=f"{resource.group}/v1" if resource.group else "v1",
    )


def _is_terminating(metadata: ObjectMeta) -> bool:
    return metadata.deletion_timestamp is not None


def mounts(pod: Pod, claim: str) -> bool:
    """Return whether a pod on a node has a claim as a volume.

    Claims of ephemeral volumes are deleted with their pod: it need not be gone before them, but its
    node must have let go of it. A pod that has finished may still have its volumes.
    """
    if not pod.spec.node_name:
        return False
    meta = pod.metadata
    is_shut_down = meta.deletion_timestamp is not None and meta.deletion_grace_period_seconds == 0
    for volume in pod.spec.volumes:
        named = volume.persistent_volume_claim
        if named is not None and named.claim_name == claim:
            return True
        own = f"{pod.metadata.name}-{volume.name}"
        if volume.ephemeral is not None and own == claim and not is_shut_down:
            return True
    return False


async def _is_bound(volume: PersistentVolume) -> bool:
    return volume.status.phase == _BOUND


def _classes_of(claim: PersistentVolumeClaim) -> Iterator[str | None]:
    """Yield the attributes classes that a claim has, or is about to have."""
    yield claim.spec.volume_attributes_class_name
    yield claim.status.current_volume_attributes_class_name
    if claim.status.modify_volume_status is not None:
        yield claim.status.modify_volume_status.target_volume_attributes_class_name
