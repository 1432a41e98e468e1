"""A server with policies, and requests to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.apps.install import APPS
from apis.autoscaling.install import AUTOSCALING
from apis.gadgets.install import GADGETS
from client.testing.app_server import InMemoryServer
from tests.apiserver.http.driver import Answer, Driver

GROUP = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
GADGET_PATH = "/apis/gadgets.example.io/v1/namespaces/default/gadgets"


def config_map(name: str = "x", data: dict[str, str] | None = None, **labels: str) -> Any:
    return {"metadata": {"name": name, "labels": labels}, "data": data or {"k": "v"}}


def rule(
    *operations: str,
    resources: str = "configmaps",
    group: str = "",
    version: str = "v1",
    **more: Any,
) -> dict[str, Any]:
    return {
        "operations": list(operations or ("CREATE",)),
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": resources.split(),
        **more,
    }


class PolicyServer:
    """Sends requests as administrator."""

    def __init__(self, driver: Driver) -> None:
        self.admin = driver

    async def put(self, resource: str, name: str, spec: dict[str, Any]) -> Answer:
        """Create an object of the group; what it replaces is deleted."""
        path = f"{GROUP}/{resource}"
        await self.admin.delete(f"{path}/{name}")
        answer = await self.admin.post(path, {"metadata": {"name": name}, "spec": spec})
        assert answer.code == 201, answer.json
        return answer

    async def settled(self) -> None:
        """Wait until the cache, which policies are read from, has all writes."""
        for resource in ("policies", "policybindings"):
            await self.admin.get(f"{GROUP}/validatingadmission{resource}")
            await self.admin.get(f"{GROUP}/mutatingadmission{resource}")

    @asynccontextmanager
    async def policy(
        self,
        *validations: str | dict[str, Any],
        actions: tuple[str, ...] = ("Deny",),
        binding: dict[str, Any] | None = None,
        name: str = "p",
        **spec: Any,
    ) -> AsyncIterator[None]:
        """Have a ValidatingAdmissionPolicy and its binding while the block runs."""
        full = {
            "matchConstraints": {"resourceRules": [rule()]},
            "validations": [
                {"expression": each} if isinstance(each, str) else each for each in validations
            ],
            **spec,
        }
        await self.put("validatingadmissionpolicies", name, full)
        bound = {"policyName": name, "validationActions": list(actions), **(binding or {})}
        await self.put("validatingadmissionpolicybindings", f"{name}-binding", bound)
        await self.settled()
        try:
            yield
        finally:
            await self.admin.delete(f"{GROUP}/validatingadmissionpolicybindings/{name}-binding")
            await self.admin.delete(f"{GROUP}/validatingadmissionpolicies/{name}")
            await self.settled()

    async def create(self, obj: Any, path: str = CONFIG_MAPS) -> Answer:
        """Create an object, without storing it."""
        return await self.admin.post(f"{path}?dryRun=All", obj)

    async def denial(self, obj: Any, path: str = CONFIG_MAPS) -> str:
        """Return what is said about an object that is denied, without the names."""
        answer = await self.create(obj, path)
        return said(answer)


def said(answer: Answer) -> str:
    """Return the message of a denial without who denies."""
    assert answer.code in (403, 413, 422), answer.json
    message: str = answer.json["message"]
    return message.partition(" denied request: ")[2]


def warnings(answer: Answer) -> list[str]:
    """Return what warnings of a policy say, without which policy."""
    texts = [text.removeprefix('299 - "')[:-1] for text in answer.all("warning")]
    return [text.partition("' with binding 'p-binding': ")[2].replace('\\"', '"') for text in texts]


@asynccontextmanager
async def policy_server() -> AsyncIterator[PolicyServer]:
    groups = (ADMISSIONREGISTRATION, APPS, AUTOSCALING, GADGETS)
    server = InMemoryServer(groups)
    await server.app.start()
    try:
        yield PolicyServer(Driver(server.app, authorization=f"Bearer {server.token}"))
    finally:
        await server.app.stop()
