"""Subresources that a group handles itself."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from apis.core.install import CORE
from apis.gadgets.install import GADGETS as GADGETS_GROUP
from apis.gadgets.types import Gadget
from apiserver.context import RequestContext
from apiserver.group import Subresource
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import BETA, GADGETS, JSON_PATCH, gadget

REPAIR = f"{GADGETS}/lamp/repair"


async def repair(context: RequestContext, current: Gadget, body: Gadget) -> Gadget:
    """Takes the parts of the body and nothing else."""
    repaired = current.deep_copy()
    repaired.spec.parts = body.spec.parts
    repaired.metadata.resource_version = body.metadata.resource_version
    return repaired


@pytest.fixture
async def client() -> AsyncIterator[Driver]:
    (resource,) = GADGETS_GROUP.resources
    verbs = "patch", "update"
    subresources = (*resource.subresources, Subresource("repair", verbs=verbs, handle=repair))
    group = replace(GADGETS_GROUP, resources=(replace(resource, subresources=subresources),))
    app = make_app(CORE, group)
    await app.start()
    driver = Driver(app, authorization="Bearer root")
    await driver.post(GADGETS, gadget(parts=[{"name": "bulb"}]))
    yield driver
    await app.stop()


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ({"spec": {"model": "no", "parts": [{"name": "cord"}]}}, "merge-patch+json"),
        ([{"op": "replace", "path": "/spec/parts/0/name", "value": "cord"}], JSON_PATCH),
    ],
)
async def test_a_patch_is_the_body_of_an_update(client: Driver, patch: Any, kind: str) -> None:
    answer = await client.patch(REPAIR, patch, kind)

    assert answer.code == 200
    assert answer.json["spec"]["model"] == "a1"
    assert [part["name"] for part in answer.json["spec"]["parts"]] == ["cord"]
    assert (await client.get(f"{GADGETS}/lamp")).json == answer.json


async def test_a_patch_conflicts_only_if_it_names_a_version(client: Driver) -> None:
    parts = {"spec": {"parts": [{"name": "cord"}]}}

    late = await client.patch(REPAIR, {**parts, "metadata": {"resourceVersion": "1"}})
    free = await client.patch(REPAIR, parts)

    assert (late.code, free.code) == (409, 200)


async def test_a_patch_that_does_not_fit_says_so(client: Driver) -> None:
    headers = {"content-type": "application/apply-patch+yaml"}

    odd = await client.patch(REPAIR, {"spec": {"parts": 5}})
    missing = await client.patch(f"{BETA}/none/repair", {})
    applied = await client.send("PATCH", f"{REPAIR}?fieldManager=m", json={}, headers=headers)

    assert (odd.code, missing.code, applied.code) == (422, 404, 400)
    assert applied.json["message"] == "invalid object type: /, Kind="


async def test_discovery_says_which_verbs_there_are(client: Driver) -> None:
    found = (await client.get("/apis/gadgets.example.io/v1")).json["resources"]

    (entry,) = [entry for entry in found if entry["name"] == "gadgets/repair"]
    assert entry["verbs"] == ["patch", "update"]
