"""Bootstrap objects of groups: what `Group.bootstrap` returns exists when a server is ready.

Every worker creates them when it starts. Existing objects are not changed.
"""

from collections.abc import Iterable

from apimachinery.errors import AlreadyExists
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersion
from apiserver.group import Group
from client.client import AsyncClient


async def create_group_objects(client: AsyncClient, groups: Iterable[Group]) -> None:
    """Create the bootstrap objects of *groups* that do not exist yet."""
    for group in groups:
        for obj in group.bootstrap() if group.bootstrap is not None else ():
            await _create(client, group, obj)


async def _create(client: AsyncClient, group: Group, obj: Object) -> None:
    resource = next(found for found in group.resources if found.cls is type(obj))
    collection = client.of(
        type(obj),
        namespace=obj.metadata.namespace or None,
        resource=resource.name,
        namespaced=resource.namespaced,
        api_version=str(GroupVersion(group.name, group.versions[0])),
    )
    try:
        await collection.create(obj)
    except AlreadyExists:
        return
