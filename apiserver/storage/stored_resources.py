"""Stored resources: what a store contains, whoever serves it.

A server knows the resources of its own groups; the store may contain those of groups that another
server serves, or that no code has any more. Everything here is read from keys and raw bytes, so it
works without the types of the objects.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

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

SERVERS: Final = "/servers/"
"""The prefix of the keys under which running servers register themselves."""
PAGE: Final = 500
"""The number of records read at once."""

_DEFINITIONS: Final = ResourceKeys(
    "apiextensions.k8s.io", "customresourcedefinitions", namespaced=False
)
_HEAD: Final = re.compile(
    rb'\{"kind":"([^"\\]*)","apiVersion":"([^"\\]*)"(?:,"\$shape":"([^"\\]*)")?[,}]'
)


@dataclass(frozen=True, slots=True)
class StoredForm:
    """How an object is stored: its kind, its version, and the fingerprint of its type's shape."""

    kind: str = ""
    api_version: str = ""
    shape: str = ""
    """Empty for an object without a fingerprint, such as a custom resource."""


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


def stored_form(value: bytes) -> StoredForm:
    """Return the form of a stored object; an empty one if the value is not an object."""
    head = _HEAD.match(value)
    if head is not None:
        return StoredForm(*(part.decode("utf-8", "replace") for part in head.groups(b"")))
    document = document_of(value)
    return StoredForm(*(str(document.get(name) or "") for name in ("kind", "apiVersion", "$shape")))


def document_of(value: bytes) -> dict[str, Any]:
    """Return the JSON object in *value*, an empty one if there is none."""
    try:
        document = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def metadata_of(value: bytes) -> dict[str, Any]:
    """Return the metadata of a stored object of any kind, empty if there is none."""
    metadata = document_of(value).get("metadata")
    return metadata if isinstance(metadata, dict) else {}


async def is_defined(backend: Backend, resource: GroupResource) -> bool:
    """Return whether a CustomResourceDefinition of the resource is stored."""
    return bool(resource.group) and (
        await backend.get(_DEFINITIONS.object_key(str(resource))) is not None
    )


async def running_servers(backend: Backend) -> dict[str, frozenset[str]]:
    """Return the resources that each registered server serves, by the name of the server.

    A server that has ended, or does not register itself, is not included.
    """
    servers = {}
    async for record in records_below(backend, SERVERS):
        resources = document_of(record.value).get("resources")
        names = resources if isinstance(resources, dict) else {}
        servers[record.key.removeprefix(SERVERS)] = frozenset(names)
    return servers


async def serving(backend: Backend, resource: str) -> list[str]:
    """Return the running servers that serve a resource such as `widgets.example.io`."""
    servers = await running_servers(backend)
    return sorted(name for name, resources in servers.items() if resource in resources)
