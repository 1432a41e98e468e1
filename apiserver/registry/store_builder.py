"""Build the store of a resource from the description of its group."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from apimachinery.codec import Codec
from apimachinery.scalars.time import now
from apimachinery.schema import GroupKind, GroupResource, GroupVersion
from apimachinery.storage_codec import StorageCodec
from apiserver.admission.plugins import NO_PLUGINS, Admission
from apiserver.group import Group, Resource, selectable_of
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
    admission: Admission = NO_PLUGINS,
    ownership: Ownership | None = None,
    now: Callable[[], datetime] = now,
) -> ResourceStore[Any]:
    """Build the store of one resource and register it with the cache."""
    own = GroupResource(group.name, resource.name)
    if resource.has_status:
        check_status(resource.cls)
    version = group.storage_version_of(resource)
    storage = StorageCodec(
        codec.scheme,
        GroupVersion(group.name, version) if version else None,
        defaults_of=_preferred_version(codec, group, resource),
    )
    view = ResourceView(
        resource.cls,
        group=group.name,
        codec=codec,
        storage=storage,
        fields=selectable_of(resource),
        columns=resource.columns,
        now=now,
    )
    keys = ResourceKeys(group.name, resource.name, namespaced=resource.namespaced)
    cached = cache.register(keys, view)
    rules = WriteRules[Any](
        resource=own,
        kind=GroupKind(group.name, resource.kind),
        strategy=resource.strategy,
        namespaced=resource.namespaced,
        has_status=resource.has_status,
        ttl=resource.ttl,
        admission=admission.chain(own, mutating=group.mutating, validating=group.validating),
        ownership=ownership or Untracked(),
        now=now,
        allocation=resource.allocation,
        scheme=codec.scheme,
    )
    return ResourceStore(
        rules,
        backend=backend,
        objects=ObjectStorage(backend, storage, cached, cls=resource.cls),
        cached=cached,
        view=view,
    )


def _preferred_version(codec: Codec, group: Group, resource: Resource) -> GroupVersion | None:
    """Return the first version of the group that has the kind of a resource."""
    versions = (GroupVersion(group.name, name) for name in group.versions)
    kinds = ((version, version.with_kind(resource.kind)) for version in versions)
    return next((version for version, kind in kinds if codec.scheme.recognizes(kind)), None)
