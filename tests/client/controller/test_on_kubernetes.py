"""A controller and a server that answers as a kube-apiserver does, by exchanges written by hand.

It knows nothing of streamed lists, has discovery version by version, and leaves out the kind of
the items of a list, as servers do that people have.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from apimachinery.scheme import Scheme
from apis.core.register import add_to_scheme as add_core
from apis.core.v1 import ConfigMap
from apis.gadgets.register import add_to_scheme
from apis.gadgets.v1 import Gadget
from client import AsyncClient, Config
from client.controller import Context, Manager
from tests.client.fakes import (
    ALL_GADGETS,
    GADGETS,
    NAMESPACES,
    FakeServer,
    answer,
    frame,
    gadget,
    gadget_list,
    serve_discovery,
    serving,
    status,
    stream,
)

CONFIG_MAPS = "/api/v1/configmaps"
CHILD = "/api/v1/namespaces/default/configmaps/a-0"
EVENTS = "/api/v1/namespaces/default/events"

NO_STREAMED_LISTS = status(
    422,
    "Invalid",
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is'
    " forbidden for watch unless the WatchList feature gate is enabled",
    group="meta.k8s.io",
    kind="ListOptions",
)


def resource(name: str, kind: str) -> dict[str, Any]:
    return {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["get"]}


def config_map(version: str) -> dict[str, Any]:
    metadata = {"name": "a-0", "namespace": "default", "resourceVersion": version, "uid": "c"}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"model": "a1"}}


def serve_cluster(server: FakeServer, ending: asyncio.Event) -> None:
    serve_discovery(server)
    core = [resource("configmaps", "ConfigMap"), resource("events", "Event")]
    known: Any = NAMESPACES["resources"]
    server.on("GET", "/api/v1", answer({**NAMESPACES, "resources": [*known, *core]}))
    listed = gadget("a", "8", generation=3)
    del listed["kind"], listed["apiVersion"]
    server.on(
        "GET",
        ALL_GADGETS,
        answer(NO_STREAMED_LISTS, 422),
        answer(gadget_list(listed)),
        stream(frame("MODIFIED", gadget("a", "20", replicas=2, generation=3)), hold=ending),
    )
    empty = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "10"}}
    server.on(
        "GET",
        CONFIG_MAPS,
        answer(NO_STREAMED_LISTS, 422),
        answer({**empty, "items": None}),
        stream(hold=ending),
    )
    server.on("PATCH", CHILD, answer(config_map("12"), 201), answer(config_map("12")))
    server.on("PUT", f"{GADGETS}/a/status", answer(gadget("a", "13")))
    server.on("POST", EVENTS, answer({"kind": "Event", "metadata": {"name": "x"}}, 201))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_controller_works_on_a_server_that_is_not_ours() -> None:
    seen: list[int] = []

    async def reconcile(ctx: Context[Gadget]) -> None:
        found = await ctx.get()
        assert found is not None
        seen.append(found.spec.replicas)
        await ctx.apply(ctx.owned(ConfigMap, name="a-0", data={"model": found.spec.model}))
        await ctx.set_condition("Ready", True, reason="Made")
        ctx.event("Normal", "Made", "it is there")

    scheme = Scheme()
    add_core(scheme)
    add_to_scheme(scheme)
    ending = asyncio.Event()
    async with serving() as server:
        serve_cluster(server, ending)
        config = Config(server.url, user_agent="test/1", trust_env=False)
        async with AsyncClient(config, scheme=scheme) as client:
            manager = Manager(client, name="test")
            manager.controller(Gadget, owns=[ConfigMap])(reconcile)
            async with manager:
                await until(lambda: 2 in seen and f"POST {EVENTS}" in server.paths())
            ending.set()

    applied = next(request for request in server.requests if request.method == "PATCH")
    assert applied.header("content-type") == "application/apply-patch+yaml"
    assert applied.query == {"fieldManager": "test/gadget", "force": "true"}
    assert applied.json["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "gadgets.example.io/v1",
            "kind": "Gadget",
            "name": "a",
            "uid": "uid-a",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    written = next(request for request in server.requests if request.method == "PUT")
    # Of the list or of the change after it, whichever the cache had come to.
    assert written.json["metadata"]["resourceVersion"] in ("8", "20")
    (condition,) = written.json["status"]["conditions"]
    assert (condition["type"], condition["observedGeneration"]) == ("Ready", 3)
    event = next(request for request in server.requests if request.path == EVENTS).json
    assert event["involvedObject"]["uid"] == "uid-a"
    assert event["source"] == {"component": "test"}
