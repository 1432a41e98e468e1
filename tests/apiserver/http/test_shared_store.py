"""Two groups, one store: what is written through one is there in the other, in its words."""

from dataclasses import replace
from typing import Any

import pytest

from apis.core.install import CORE
from apis.events.install import EVENTS
from apiserver.app import App
from apiserver.controlplane.standard_server import with_standard
from apiserver.install import InstallError
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver

OLD = "/api/v1/namespaces/default/events"
NEW = "/apis/events.k8s.io/v1/namespaces/default/events"
MERGE = {"content-type": "application/merge-patch+json"}
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
APPLY = {"content-type": "application/apply-patch+yaml"}
TABLE = {"accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}


@pytest.fixture
async def app() -> Any:
    made = make_app(CORE, EVENTS)
    await made.start()
    yield made
    await made.stop()


def new_event(name: str = "a", **fields: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "eventTime": "2030-01-01T00:00:00.000000Z",
        "reportingController": "example.io/gadgets",
        "reportingInstance": "gadgets-1",
        "action": "Scale",
        "reason": "Scaled",
        "regarding": {"kind": "Gadget", "name": "lamp", "namespace": "default"},
        "note": "scaled to 3",
        "type": "Normal",
        **fields,
    }


def old_event(name: str = "b") -> dict[str, Any]:
    about = {"kind": "Gadget", "name": "lamp", "namespace": "default"}
    return {"metadata": {"name": name}, "involvedObject": about, "message": "hm", "count": 2}


async def test_an_event_is_seen_through_both_groups(client: Driver) -> None:
    await client.send("POST", NEW, json=new_event())
    await client.send("POST", OLD, json=old_event())

    newer = await client.send("GET", f"{NEW}/b")
    older = await client.send("GET", f"{OLD}/a")

    assert newer.json["apiVersion"] == "events.k8s.io/v1"
    assert (newer.json["note"], newer.json["deprecatedCount"]) == ("hm", 2)
    assert newer.json["eventTime"] is None
    assert older.json["apiVersion"] == "v1"
    assert (older.json["message"], older.json["reportingComponent"]) == (
        "scaled to 3",
        "example.io/gadgets",
    )
    for url, kind in ((NEW, "events.k8s.io/v1"), (OLD, "v1")):
        listed = (await client.send("GET", url)).json
        assert (listed["kind"], listed["apiVersion"]) == ("EventList", kind)
        assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b"]


async def test_watches_of_both_groups_are_told_the_same(client: Driver) -> None:
    async with (
        client.stream(f"{NEW}?watch=1") as newer,
        client.stream(f"{OLD}?watch=1") as older,
    ):
        await client.send("POST", OLD, json=old_event())
        await client.send("DELETE", f"{NEW}/b")

        seen = [[await stream.event() for _ in range(2)] for stream in (newer, older)]

    types = [[event["type"] for event in events] for events in seen]
    assert types == [["ADDED", "DELETED"], ["ADDED", "DELETED"]]
    assert [events[0]["object"]["apiVersion"] for events in seen] == ["events.k8s.io/v1", "v1"]
    versions = [events[1]["object"]["metadata"]["resourceVersion"] for events in seen]
    assert versions[0] == versions[1]


async def test_tables_are_alike(client: Driver) -> None:
    await client.send("POST", NEW, json=new_event())

    tables = [(await client.send("GET", url, headers=TABLE)).json for url in (NEW, OLD)]

    rows = [table["rows"][0]["cells"][1:5] for table in tables]
    assert rows == [["Normal", "Scaled", "gadget/lamp", ""]] * 2
    assert tables[0]["columnDefinitions"] == tables[1]["columnDefinitions"]


async def test_a_selector_is_in_the_words_of_its_group(client: Driver) -> None:
    await client.send("POST", NEW, json=new_event())
    await client.send("POST", OLD, json=old_event())

    chosen = await client.send("GET", f"{NEW}?fieldSelector=regarding.name=lamp,type=Normal")
    foreign = await client.send("GET", f"{NEW}?fieldSelector=involvedObject.name=lamp")

    assert [item["metadata"]["name"] for item in chosen.json["items"]] == ["a"]
    assert foreign.code == 400
    assert "field label not supported: involvedObject.name" in foreign.json["message"]


async def test_each_group_has_its_own_rules(client: Driver) -> None:
    lax = await client.send("POST", OLD, json=old_event())
    strict = await client.send("POST", NEW, json={**new_event("c"), "deprecatedCount": 2})
    changed = await client.send("PATCH", f"{NEW}/b", json={"note": "x"}, headers=MERGE)
    older = await client.send("PATCH", f"{OLD}/b", json={"message": "x"}, headers=MERGE)

    assert lax.code == 201
    assert (strict.code, strict.json["message"]) == (
        422,
        'Event "c" is invalid: count: Invalid value: "": needs to be unset',
    )
    assert changed.code == 422
    assert 'message: Invalid value: "x": field is immutable' in changed.json["message"]
    assert older.code == 200


async def test_a_reporter_counts_by_a_strategic_patch(client: Driver) -> None:
    """This is what client-go's recorder does when an event goes on happening."""
    await client.send("POST", NEW, json=new_event())
    series = {"count": 2, "lastObservedTime": "2030-01-01T00:00:01.000000Z"}

    answer = await client.send("PATCH", f"{NEW}/a", json={"series": series}, headers=STRATEGIC)

    assert answer.code == 200
    assert answer.json["series"] == series
    assert (await client.send("GET", f"{OLD}/a")).json["series"] == series


async def test_fields_are_owned_in_the_words_of_whoever_wrote_them(client: Driver) -> None:
    await client.send("POST", f"{NEW}?fieldManager=new", json=new_event())
    await client.send(
        "PATCH", f"{OLD}/a?fieldManager=old", json={"message": "other"}, headers=MERGE
    )

    managed = (await client.send("GET", f"{OLD}/a")).json["metadata"]["managedFields"]

    owned = {entry["manager"]: (entry["apiVersion"], entry["fieldsV1"]) for entry in managed}
    assert owned["old"] == ("v1", {"f:message": {}})
    assert owned["new"][0] == "events.k8s.io/v1"
    assert "f:note" not in owned["new"][1]
    assert "f:regarding" in owned["new"][1]


async def test_an_apply_through_one_group_conflicts_with_a_write_through_the_other(
    client: Driver,
) -> None:
    applied = {"apiVersion": "events.k8s.io/v1", "kind": "Event", **new_event()}
    first = await client.send("PATCH", f"{NEW}/a?fieldManager=me", json=applied, headers=APPLY)
    labelled = {"metadata": {"labels": {"x": "1"}}}
    await client.send("PATCH", f"{OLD}/a?fieldManager=old", json=labelled, headers=MERGE)

    applied["metadata"] = {"name": "a", "labels": {"x": "2"}}
    second = await client.send("PATCH", f"{NEW}/a?fieldManager=me", json=applied, headers=APPLY)

    assert first.code == 201
    assert second.code == 409
    assert 'conflict with "old" using v1' in second.json["message"]


async def test_an_error_names_the_resource_as_kubernetes_does(client: Driver) -> None:
    answer = await client.send("GET", f"{NEW}/none")

    assert (answer.code, answer.json["message"]) == (
        404,
        'events.events.k8s.io "none" not found',
    )


async def test_a_collection_is_deleted_for_both(client: Driver) -> None:
    await client.send("POST", NEW, json=new_event())
    await client.send("POST", OLD, json=old_event())

    assert (await client.send("DELETE", NEW)).code == 200
    assert (await client.send("GET", OLD)).json["items"] == []


async def test_discovery_lists_both(client: Driver) -> None:
    listed = (await client.send("GET", "/apis/events.k8s.io/v1")).json["resources"]

    assert [(found["name"], found["kind"], found["shortNames"]) for found in listed] == [
        ("events", "Event", ["ev"])
    ]


WITHOUT_EVENTS = replace(CORE, resources=tuple(r for r in CORE.resources if r.name != "events"))


async def test_a_group_needs_the_one_whose_objects_it_shows() -> None:
    app = make_app(WITHOUT_EVENTS, EVENTS)

    with pytest.raises(InstallError, match="its events are stored as events, which no group"):
        await app.start()


def test_a_core_without_events_has_none_in_other_words_either() -> None:
    assert with_standard([WITHOUT_EVENTS], [CORE, EVENTS]) == [WITHOUT_EVENTS]
    assert with_standard([], [CORE, EVENTS]) == [CORE, EVENTS]


async def test_a_group_that_shows_objects_can_go_and_they_stay(app: App, client: Driver) -> None:
    await client.send("POST", NEW, json=new_event())

    app.groups.remove("events.k8s.io")

    assert (await client.send("GET", NEW)).code == 404
    assert (await client.send("GET", f"{OLD}/a")).code == 200


async def test_a_group_whose_objects_another_shows_stays(app: App) -> None:
    with pytest.raises(InstallError, match=r"group '': 'events\.k8s\.io' shows objects of it"):
        app.groups.remove("")
