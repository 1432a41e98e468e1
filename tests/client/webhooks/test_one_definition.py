"""One definition, two forms: a group of our server, and webhooks beside a CustomResourceDefinition.

The same requests get the same answers from both, up to the prefix by which a server says that a
webhook has denied a request.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio

from apimachinery.errors import APIError
from apimachinery.meta.unstructured import Unstructured
from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.apiextensions.v1 import CustomResourceDefinition
from client.config import Config
from client.controller import Manager
from client.testing.env import Environment, cluster_environment, environment
from client.webhooks import WebhookSettings
from tests.client.webhooks.orders import (
    DEFINITION,
    GROUP,
    ORDERS,
    Order,
    OrderV1,
    add_to_scheme,
    setup,
)
from tests.client.webhooks.test_webhook_serving import free_port
from tests.servers import serving

DENIED = re.compile(r'admission webhook "[^"]*" denied the request: ')
SERVERS = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "generation",
    "namespace",
]


def order(version: str = "v1", name: str = "a", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Order",
        "metadata": {"name": name},
        "spec": spec,
    }


CASES: dict[str, list[tuple[str, Any]]] = {
    "defaults": [("create", order(item="socks", quantity=2)), ("get", "v1")],
    "no item": [("create", order())],
    "two errors": [("create", order(quantity=3))],
    "two errors, named as in v1alpha1": [("create", order("v1alpha1", count=3))],
    "a constraint of the class": [("create", order(item="x", quantity=1001))],
    "a wrong type": [("create", order(item="x", quantity="many"))],
    "read in the other version": [
        ("create", order(item="socks", quantity=2, note="red")),
        ("get", "v1alpha1"),
        ("list", "v1alpha1"),
    ],
    "written in the other version": [
        ("create", order("v1alpha1", item="shoes", count=4)),
        ("get", "v1"),
        ("patch", ("v1alpha1", {"spec": {"count": 6}})),
        ("get", "v1"),
        ("patch", ("v1alpha1", {"spec": {"count": 7}})),
    ],
    "a change that is refused": [
        ("create", order(item="socks", quantity=2)),
        ("patch", ("v1", {"spec": {"item": "shoes"}})),
        ("patch", ("v1alpha1", {"spec": {"item": "shoes"}})),
    ],
    "dry run": [("dry run", order(item="socks", quantity=2)), ("get", "v1")],
}


class Form:
    """One of the two forms: sends the steps of a case."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    async def run(self, steps: list[tuple[str, Any]]) -> list[Any]:
        answers = [await self._answer(step, argument) for step, argument in steps]
        await self._orders("v1").delete_collection()
        return answers

    async def _answer(self, step: str, argument: Any) -> Any:
        try:
            return _shown(await self._send(step, argument))
        except APIError as error:
            causes = [(cause.reason, cause.field, cause.message) for cause in error.causes]
            return error.code, error.reason, DENIED.sub("", error.message), sorted(causes)

    async def _send(self, step: str, argument: Any) -> Any:
        match step:
            case "create":
                version = argument["apiVersion"].rpartition("/")[2]
                return await self._orders(version).create(argument)
            case "dry run":
                return await self._orders("v1").create(argument, dry_run=True)
            case "get":
                return await self._orders(argument).get("a")
            case "list":
                (found,) = [obj async for obj in self._orders(argument).list()]
                return found
            case _:
                version, patch = argument
                return await self._orders(version).patch("a", patch)

    def _orders(self, version: str) -> Any:
        return self._env.observer.kind("Order", f"{GROUP}/{version}")


def _shown(obj: Unstructured) -> Any:
    document = obj.to_dict()
    metadata = {
        name: value
        for name, value in document["metadata"].items()
        if name not in SERVERS and value and name != "namespace"
    }
    return {**document, "metadata": metadata}


async def define(env: Environment) -> None:
    add_to_scheme(env.scheme)
    await env.client.of(CustomResourceDefinition).create(DEFINITION)
    orders = env.observer.kind("Order", f"{GROUP}/v1")
    async with asyncio.timeout(10):
        while True:
            try:
                await orders.page()
            except (APIError, LookupError):
                await asyncio.sleep(0.01)
            else:
                return


async def converted(env: Environment) -> None:
    """Wait until the server, which learns of it by itself, converts by the webhook."""
    definitions = env.client.of(CustomResourceDefinition)
    await definitions.wait(
        f"orders.{GROUP}",
        lambda found: bool(found.spec.conversion and found.spec.conversion.webhook),
    )
    orders = env.observer.kind("Order", f"{GROUP}/v1")
    await orders.create(order(name="probe", item="x", quantity=2))
    alpha = env.observer.kind("Order", f"{GROUP}/v1alpha1")
    async with asyncio.timeout(10):
        while "count" not in (await alpha.get("probe"))["spec"]:
            await asyncio.sleep(0.01)
    await orders.delete("probe")


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["in process", "over sockets", "of another process"]
)
async def forms(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Form, Form]]:
    async with AsyncExitStack() as stack:
        if request.param == "of another process":
            groups = ("apis.admissionregistration.install:ADMISSIONREGISTRATION",)
            server = stack.enter_context(serving(tmp_path_factory.mktemp("server"), groups=groups))
            config = Config.from_kubeconfig(server.kubeconfig)
            form = cluster_environment(config, (ADMISSIONREGISTRATION,))
        else:
            form = environment((ADMISSIONREGISTRATION,))
        ours = await stack.enter_async_context(environment((ORDERS,)))
        theirs = await stack.enter_async_context(form)
        await define(theirs)
        options = {} if request.param == "in process" else reached()
        await stack.enter_async_context(theirs.manager(setup, **options))
        await converted(theirs)
        yield Form(ours), Form(theirs)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
async def test_both_forms_answer_alike(forms: tuple[Form, Form], steps: Any) -> None:
    ours, theirs = forms

    assert await theirs.run(steps) == await ours.run(steps)


@pytest.mark.parametrize("sockets", [False, True], ids=["in process", "over sockets"])
async def test_a_webhook_of_one_version_reviews_the_others(sockets: bool) -> None:
    """The server has the object converted by one webhook before it shows it to another."""

    def of_v1(manager: Manager) -> None:
        manager.defaulter(OrderV1)(lambda order: None)
        manager.validator(OrderV1, operations=["CREATE", "UPDATE", "DELETE"])(lambda order: None)
        manager.converter(Order)

    async with AsyncExitStack() as stack:
        env = await stack.enter_async_context(environment((ADMISSIONREGISTRATION,)))
        await define(env)
        await stack.enter_async_context(env.manager(of_v1, **(reached() if sockets else {})))
        await converted(env)
        orders = env.observer.kind("Order", f"{GROUP}/v1alpha1")
        created = await orders.create(order("v1alpha1", item="shoes", count=4))
        changed = await orders.patch("a", {"spec": {"count": 6}})
        stored = await env.observer.kind("Order", f"{GROUP}/v1").get("a")
        await orders.delete("a")

    assert created["spec"] == {"item": "shoes", "count": 4}
    assert created.metadata.annotations == {f"{GROUP}/note": '"as usual"'}
    assert changed["spec"] == {"item": "shoes", "count": 6}
    assert stored["spec"] == {"item": "shoes", "quantity": 6, "note": "as usual"}


def reached() -> dict[str, Any]:
    """The options of a manager that is called over sockets."""
    port = free_port()
    return {"webhooks": WebhookSettings(f"127.0.0.1:{port}", url=f"https://127.0.0.1:{port}")}
