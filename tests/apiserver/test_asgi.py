"""The composition root: a configuration becomes a server with its standard groups."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apiserver import create_app
from apiserver.asgi import Server
from apiserver.config import ServerConfig
from apiserver.http.exchange import DRAIN
from apiserver.process.data_folder import prepare, read_admin_token
from tests.apiserver.http.driver import Driver

CONFIGMAPS = "/api/v1/namespaces/{}/configmaps"


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("t1,ann,7,devs\n")
    made = ServerConfig(
        data_dir=tmp_path / "data", storage="sqlite://:memory:", token_auth_file=tokens
    )
    prepare(made, now=datetime.now(UTC))
    return made


@pytest.fixture
async def admin(config: ServerConfig) -> AsyncIterator[Driver]:
    app = create_app(config)
    await app.start()
    token = read_admin_token(prepare(config, now=datetime.now(UTC)))
    yield Driver(app, authorization=f"Bearer {token}")
    await app.stop()


async def lifespan(server: Server) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a server says when it is started and stopped, and the state it leaves."""
    state: dict[str, Any] = {}
    events = asyncio.Queue[dict[str, Any]]()
    for name in ("startup", "shutdown"):
        events.put_nowait({"type": f"lifespan.{name}"})
    said: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        said.append(message)

    await server({"type": "lifespan", "state": state}, events.get, send)
    return state, said


async def test_a_server_is_made_when_its_lifespan_starts(config: ServerConfig) -> None:
    state, said = await lifespan(Server(lambda: config))

    assert [message["type"] for message in said] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert callable(state[DRAIN])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"storage": "nosuch://x"}, "no backend has the scheme 'nosuch'"),
        ({"groups": ("nosuch:X",)}, "there is no module nosuch"),
        ({"data_dir": Path("/nonexistent")}, "admin.token: cannot be read"),
    ],
)
async def test_a_start_that_fails_says_why_in_one_line(
    config: ServerConfig, change: dict[str, Any], why: str
) -> None:
    _, said = await lifespan(Server(lambda: replace(config, **change)))

    (message,) = said
    assert message["type"] == "lifespan.startup.failed"
    assert why in message["message"]
    assert "\n" not in message["message"]


async def test_the_namespaces_that_clients_expect_are_there(admin: Driver) -> None:
    answer = await admin.get("/api/v1/namespaces")

    names = [item["metadata"]["name"] for item in answer.json["items"]]
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]


async def test_nothing_is_put_into_a_namespace_that_is_not_there(admin: Driver) -> None:
    answer = await admin.post(CONFIGMAPS.format("nope"), configmap("a"))

    assert (answer.code, answer.json["message"]) == (404, 'namespaces "nope" not found')


async def test_a_namespace_that_is_deleted_takes_its_contents_along(admin: Driver) -> None:
    await admin.post("/api/v1/namespaces", {"metadata": {"name": "t"}})
    await admin.post(CONFIGMAPS.format("t"), configmap("a"))
    async with admin.stream("/api/v1/namespaces?watch=1&fieldSelector=metadata.name=t") as watch:
        assert (await admin.delete("/api/v1/namespaces/t")).code == 200

        while (await watch.event())["type"] != "DELETED":
            continue

    assert (await admin.get(CONFIGMAPS.format("t"))).json["items"] == []


async def test_a_token_of_the_file_is_a_user_who_may_little(admin: Driver) -> None:
    ann = {"authorization": "Bearer t1"}

    assert (await admin.get("/apis", **ann)).code == 200
    refused = await admin.get(CONFIGMAPS.format("default"), **ann)

    assert refused.code == 403
    assert refused.json["message"].startswith('configmaps is forbidden: User "ann" cannot list')


async def test_reviews_answer_as_the_server_would_decide(admin: Driver) -> None:
    spec = {
        "user": "ann",
        "groups": ["system:authenticated"],
        "nonResourceAttributes": {"path": "/apis", "verb": "get"},
    }
    url = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

    allowed = await admin.post(url, review("SubjectAccessReview", spec))
    spec["nonResourceAttributes"] = {"path": "/metrics", "verb": "get"}
    refused = await admin.post(url, review("SubjectAccessReview", spec))

    assert (allowed.code, allowed.json["status"]["allowed"]) == (201, True)
    assert refused.json["status"]["allowed"] is False


async def test_rules_are_listed(admin: Driver) -> None:
    answer = await admin.post(
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        review("SelfSubjectRulesReview", {"namespace": "default"}),
        authorization="Bearer t1",
    )

    status = answer.json["status"]
    assert {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"]} in status["resourceRules"]  # fmt: skip
    assert "/openapi/*" in status["nonResourceRules"][0]["nonResourceURLs"]


@pytest.mark.parametrize(("token", "known"), [("t1", True), ("t2", False)])
async def test_token_reviews_know_the_servers_tokens(
    admin: Driver, token: str, known: bool
) -> None:
    answer = await admin.post(
        "/apis/authentication.k8s.io/v1/tokenreviews",
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        },
    )

    assert answer.code == 201
    assert answer.json["status"].get("authenticated", False) is known


def configmap(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def review(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
