"""Protection of storage: a deleted claim, volume or attributes class stays while it is in use.

Admission gives new ones a finalizer (`apis.core.admission.storage_protection`), which is removed
here: from a claim once no pod on a node mounts it, from a volume once no claim is bound to it, from
an attributes class once no claim and no volume names it. Only deleted objects are looked at.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

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

log = logging.getLogger(__name__)

RECHECK_SECONDS: Final = 30.0
"""When an object that is in use is looked at again, if nothing that uses it is deleted before."""

CLAIMS: Final = GroupResource("", "persistentvolumeclaims")
VOLUMES: Final = GroupResource("", "persistentvolumes")
ATTRIBUTES_CLASSES: Final = GroupResource("storage.k8s.io", "volumeattributesclasses")

_BOUND: Final = "Bound"
_FINISHED: Final = ("Failed", "Succeeded")


class StorageProtection:
    """The controllers of the protected resources that a server has."""

    def __init__(self, client: AsyncClient) -> None:
        self._claims = _collection(client, PersistentVolumeClaim, CLAIMS, namespaced=True)
        self._volumes = _collection(client, PersistentVolume, VOLUMES)
        self._classes = _collection(client, VolumeAttributesClass, ATTRIBUTES_CLASSES)
        self._pods = _collection(client, Pod, GroupResource("", "pods"), namespaced=True)

    def add_to(self, manager: Manager, *, attributes_classes: bool = True) -> None:
        """Add the controllers; those of attributes classes only if the server has any."""
        claims = _Protection(self._claims, CLAIMS, self._is_mounted)
        claims.add_to(manager, "pvc-protection-controller", users=(self._pods,))
        volumes = _Protection(self._volumes, VOLUMES, _is_bound)
        volumes.add_to(manager, "pv-protection-controller")
        if attributes_classes:
            classes = _Protection(self._classes, ATTRIBUTES_CLASSES, self._is_named)
            users = (self._claims, self._volumes)
            classes.add_to(manager, "vac-protection-controller", users=users)

    async def _is_mounted(self, claim: Any) -> bool:
        meta = claim.metadata
        pods = self._pods.in_namespace(meta.namespace)
        return any([_mounts(pod, meta.name) async for pod in pods.list()])

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

    collection: ResourceClient[Any]
    resource: GroupResource
    is_used: Callable[[Any], Awaitable[bool]]
    waiting: set[NamespacedName] = field(default_factory=set)
    """Deleted objects that are in use."""

    def add_to(
        self, manager: Manager, name: str, *, users: Iterable[ResourceClient[Any]] = ()
    ) -> None:
        """Add the controller; the deletion of one of *users* may release an object."""
        source = MetadataSource(
            self.collection, name=self.resource.resource, tracks=_is_terminating
        )
        watches = [
            MetadataSource(user, self._waiting_for, name=f"users of {self.resource.resource}", tracks=_never)
            for user in users
        ]
        manager.controller(Object, name=name, source=source, watches=watches)(self._reconcile)
