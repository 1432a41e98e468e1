"""Writes to a server with admission plugins, and what became of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from tests.apiserver.http.driver import Answer, Driver

STRATEGIC: Final = "strategic-merge-patch+json"

_NAMESPACE: Final = "default"


@dataclass
class Admitted:
    """A server, and names that nothing has yet."""

    server: Driver

    def __post_init__(self) -> None:
        self._numbers = count()

    def new_name(self) -> str:
        return f"object-{next(self._numbers)}"

    async def create(
        self, resource: str, document: dict[str, Any], *, namespace: str = _NAMESPACE
    ) -> Any:
        answer = await self.server.post(path_of(resource, namespace), document)
        assert answer.code == 201, answer.body
        return answer.json

    async def settle(self, resource: str) -> None:
        """Wait until the cache has every object; admission reads from it."""
        await self.server.get(path_of(resource, _NAMESPACE))

    async def namespace(self) -> str:
        """Create a namespace with a default account."""
        name = self.new_name()
        await self.create("namespaces", {"metadata": {"name": name}})
        await self.create("serviceaccounts", {"metadata": {"name": "default"}}, namespace=name)
        return name

    async def try_pod(self, *, namespace: str = _NAMESPACE, **parts: Any) -> Answer:
        """Create a pod with this spec; `metadata` is its own part."""
        return await self.server.post(path_of("pods", namespace), self._pod(parts))

    async def pod(self, *, namespace: str = _NAMESPACE, **parts: Any) -> Any:
        """Create a pod and return its spec."""
        document = await self.create("pods", self._pod(parts), namespace=namespace)
        return document["spec"]

    async def refusal(self, *, namespace: str = _NAMESPACE, **parts: Any) -> str:
        """Return why a pod is forbidden, without the words that say so."""
        return reason(await self.try_pod(namespace=namespace, **parts))

    def _pod(self, parts: dict[str, Any]) -> dict[str, Any]:
        spec = {"containers": [container("c")], **parts}
        metadata = {"name": self.new_name(), **spec.pop("metadata", {})}
        return {"metadata": metadata, "spec": spec}


def reason(answer: Answer) -> str:
    assert (answer.code, answer.json["reason"]) == (403, "Forbidden"), answer.body
    message: str = answer.json["message"]
    return message.partition(" is forbidden: ")[2]


def container(name: str, **parts: Any) -> dict[str, Any]:
    return {"name": name, "image": "nginx", **parts}


def path_of(resource: str, namespace: str) -> str:
    for group, resources in _CLUSTER_SCOPED.items():
        if resource in resources:
            return f"{group}/{resource}"
    return f"/api/v1/namespaces/{namespace}/{resource}"


_CLUSTER_SCOPED: Final[dict[str, Iterable[str]]] = {
    "/api/v1": ("namespaces", "nodes", "persistentvolumes"),
    "/apis/scheduling.k8s.io/v1": ("priorityclasses",),
    "/apis/node.k8s.io/v1": ("runtimeclasses",),
    "/apis/storage.k8s.io/v1": ("storageclasses", "volumeattributesclasses"),
}
