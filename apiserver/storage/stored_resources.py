"""Stored resources: what a store contains, whoever serves it.

A server knows the resources of its own groups; the store may contain those of groups that another
server serves, or that no code has any more. Everything here is read from keys, so it works without
the types of the objects.
"""

from collections.abc import AsyncIterator
from typing import Final

from apimachinery.schema import GroupResource
from apiserver.storage.interface import Backend, Record
from apiserver.storage.keys import (
    ROOT,
    InvalidStorageKey,
    ResourceKeys,
    after_prefix,
    parse,
    resource_prefix,
)

PAGE: Final = 500
"""The number of records read at once."""

_DEFINITIONS: Final = ResourceKeys(
    "apiextensions.k8s.io", "customresourcedefinitions", namespaced=False
)


async def stored_resources(backend: Backend) -> AsyncIterator[GroupResource]:
    """Yield every resource that has objects, in the order of the keys.

    Costs one small read per resource: each finds the first key after those of the previous one.
    """
    start = ROOT
    while page := (await backend.range(ROOT, start=start, limit=1)).records:
        key = page[0].key
        try:
            found = parse(key)
        except InvalidStorageKey:
            start = key + "\0"  # no object's key: continue with the next one
            continue
        yield GroupResource(found.group, found.resource)
        start = after_prefix(resource_prefix(key))


async def count_below(backend: Backend, prefix: str) -> int:
    """Return the number of keys that begin with *prefix*."""
    page = await backend.range(prefix, limit=1)
    return len(page.records) + page.remaining


async def records_below(backend: Backend, prefix: str) -> AsyncIterator[Record]:
    """Yield the records whose keys begin with *prefix*, each as it is when its page is read."""
    start = prefix
    while True:
        page = await backend.range(prefix, start=start, limit=PAGE)
        for record in page.records:
            yield record
        if not page.remaining:
            return
        # The smallest key after the last one.
        start = page.records[-1].key + "\0"


def prefix_of(resource: GroupResource, namespace: str = "") -> str:
    """Return the prefix of a resource's keys, of those in one namespace if it is given."""
    keys = ResourceKeys(resource.group, resource.resource)
    return keys.namespace_prefix(namespace) if namespace else keys.prefix


async def is_defined(backend: Backend, resource: GroupResource) -> bool:
    """Return whether a CustomResourceDefinition of the resource is stored."""
    return bool(resource.group) and (
        await backend.get(_DEFINITIONS.object_key(str(resource))) is not None
    )
