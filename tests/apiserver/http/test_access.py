"""Who is asking, and may they?"""

import logging

import pytest

from apiserver.app import App
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS, gadget


async def test_a_wrong_token_is_nobody(app: App) -> None:
    answer = await Driver(app, authorization="Bearer wrong").get("/version")

    assert (answer.code, answer.json["reason"]) == (401, "Unauthorized")
    assert answer.json["message"] == "Unauthorized"
    assert "details" not in answer.json


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "GET",
            CONFIG_MAPS,
            'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group'
            ' "" in the namespace "default"',
        ),
        (
            "GET",
            "/api/v1/namespaces",
            'namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group'
            ' "" at the cluster scope',
        ),
        (
            "DELETE",
            f"{GADGETS}/lamp",
            'gadgets.gadgets.example.io "lamp" is forbidden: User "alice" cannot delete resource'
            ' "gadgets" in API group "gadgets.example.io" in the namespace "default"',
        ),
        ("GET", "/metrics", 'forbidden: User "alice" cannot get path "/metrics"'),
        ("GET", "/nowhere", 'forbidden: User "alice" cannot get path "/nowhere"'),
    ],
)
async def test_a_refusal_says_what_was_refused(
    app: App, method: str, path: str, message: str
) -> None:
    answer = await Driver(app, authorization="Bearer alice").send(method, path)

    assert (answer.code, answer.json["reason"]) == (403, "Forbidden")
    assert answer.json["message"] == message


async def test_anonymous_may_see_that_the_server_lives(app: App) -> None:
    anonymous = Driver(app)

    assert (await anonymous.get("/livez")).code == 200
    assert (await anonymous.get(GADGETS)).code == 403


async def test_impersonation(client: Driver) -> None:
    answer = await client.get(CONFIG_MAPS, impersonate_user="bob")

    assert answer.code == 403
    assert 'User "bob" cannot list' in answer.json["message"]


async def test_every_write_is_logged_with_who_and_what(
    client: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="apiserver.request"):
        await client.post(GADGETS, gadget(), audit_id="the-id")

    (record,) = caplog.records
    found = record.__dict__
    assert (found["request"], found["user"], found["verb"]) == ("the-id", "root", "create")
    assert (found["resource"], found["code"]) == ("gadgets", 201)
    assert found["seconds"] > 0
