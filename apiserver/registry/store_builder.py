"""Build the store of a resource from the description of its group."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from apimachinery.codec import Codec, StorageCodec
from apimachinery.scalars.time import now
from apimachinery.schema import GroupKind, GroupResource, GroupVersion
from apiserver.admission.chain import NO_ADMISSION, Chain
from apiserver.group import Group, Resource
from apiserver.managed_fields.ownership import Ownership, Untracked
from apiserver.registry.status import check_status
from apiserver.registry.store import ResourceStore
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Backend
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.objects import ObjectStorage
from apiserver.views.resource_view import ResourceView


def assemble_store(
    group: Group,
    resource: Resource,
    *,
    codec: Codec,
    backend: Backend,
    cache: WatchCache,
    admission: Chain = NO_ADMISSION,
    ownership: Ownership | None = None,
    now: Callable[[], datetime] = now,
) -> ResourceStore[Any]:
    """Build the store of one resource and register it with the cache.

    The admission plugins of the group run after those of *admission*.
    """
    if resource.has_status:
        check_status(resource.cls)
    version = GroupVersion(group.name, group.storage_version) if group.storage_version else None
    storage = StorageCodec(codec.scheme, version)
    view = ResourceView(
        resource.cls,
        group=group.name,
        codec=codec,
        storage=storage,
        fields=resource.fields,
        columns=resource.columns,
        now=now,
    )
    keys = ResourceKeys(group.name, resource.name, namespaced=resource.namespaced)
    cached = cache.register(keys, view)
    rules = WriteRules[Any](
        resource=GroupResource(group.name, resource.name),
        kind=GroupKind(group.name, resource.kind),
        strategy=resource.strategy,
        namespaced=resource.namespaced,
        has_status=resource.has_status,
        ttl=resource.ttl,
        admission=admission.extended(mutating=group.mutating, validating=group.validating),
        ownership=ownership or Untracked(),
        now=now,
    )
    return ResourceStore(
        rules,
        backend=backend,
        objects=ObjectStorage(backend, storage, cached),
        cached=cached,
        view=view,
    )
