"""Bootstrap objects that clients expect of every server: four namespaces and the API's Service.

Every worker creates them when it starts, so it does not matter which one comes first, nor whether
they exist from an earlier start. Existing objects are not changed.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from apimachinery.errors import AlreadyExists
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupResource
from apis.core import GROUP, v1
from client.client import AsyncClient

NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
API_PORT: Final = 443


class BootstrapObject(NamedTuple):
    """An object, and the resource it is created through."""

    resource: GroupResource
    object: Object


def bootstrap_objects(
    *, port: int = 6443, cluster_ip: str = "", api_service: bool = True
) -> Iterator[BootstrapObject]:
    """Yield the objects, namespaces first; *port* is where the server listens."""
    for name in NAMESPACES:
        namespace = v1.Namespace(metadata=ObjectMeta(name=name))
        yield BootstrapObject(GroupResource(GROUP, "namespaces"), namespace)
    if api_service:
        yield BootstrapObject(GroupResource(GROUP, "services"), new_api_service(port, cluster_ip))


async def create_bootstrap_objects(
    client: AsyncClient, *, port: int = 6443, cluster_ip: str = "", api_service: bool = True
) -> None:
    """Create the objects that do not exist yet.

    Without *api_service* the caller creates the service: it needs an address.
    """
    for resource, obj in bootstrap_objects(
        port=port, cluster_ip=cluster_ip, api_service=api_service
    ):
        namespace = obj.metadata.namespace
        collection = client.of(
            type(obj),
            namespace=namespace or None,
            resource=resource.resource,
            namespaced=bool(namespace),
            api_version="v1",
        )
        try:
            await collection.create(obj)
        except AlreadyExists:
            continue


def new_api_service(port: int, cluster_ip: str = "") -> v1.Service:
    https = v1.ServicePort(name="https", port=API_PORT, target_port=port)
    return v1.Service(
        metadata=ObjectMeta(
            name="kubernetes",
            namespace="default",
            labels={"component": "apiserver", "provider": "kubernetes"},
        ),
        spec=v1.ServiceSpec(ports=[https], cluster_ip=cluster_ip),
    )
