"""The objects that clients expect of every server: four namespaces and the service of the API.

Every worker creates them when it starts, so it does not matter which one comes first, nor whether
they are there from the last time. What somebody changed since is left alone.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from apimachinery.errors import AlreadyExists
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupResource
from apis.core import GROUP, v1
from apis.core.v1.defaults import set_service_defaults, set_service_port_defaults

NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
API_PORT: Final = 443


class BootstrapObject(NamedTuple):
    """An object, and the resource it is created through."""

    resource: GroupResource
    object: Object


class Creator(Protocol):
    """Creates an object as a client would, or raises AlreadyExists."""

    async def create(self, resource: GroupResource, obj: Object) -> object: ...


def bootstrap_objects(*, port: int = 6443, cluster_ip: str = "") -> Iterator[BootstrapObject]:
    """Make the objects, those first that others need; *port* is where the server listens."""
    for name in NAMESPACES:
        namespace = v1.Namespace(metadata=ObjectMeta(name=name))
        yield BootstrapObject(GroupResource(GROUP, "namespaces"), namespace)
    yield BootstrapObject(GroupResource(GROUP, "services"), _api_service(port, cluster_ip))


async def create_bootstrap_objects(
    server: Creator, *, port: int = 6443, cluster_ip: str = ""
) -> None:
    """Create what is not there yet."""
    for resource, obj in bootstrap_objects(port=port, cluster_ip=cluster_ip):
        try:
            await server.create(resource, obj)
        except AlreadyExists:
            continue


def _api_service(port: int, cluster_ip: str) -> v1.Service:
    https = v1.ServicePort(name="https", port=API_PORT, target_port=port)
    service = v1.Service(
        metadata=ObjectMeta(
            name="kubernetes",
            namespace="default",
            labels={"component": "apiserver", "provider": "kubernetes"},
        ),
        spec=v1.ServiceSpec(ports=[https], cluster_ip=cluster_ip),
    )
    # It never was a document, so nobody else gives it the defaults of one.
    set_service_defaults(service)
    set_service_port_defaults(https)
    return service
