"""One suite for every resource in every version: what all of them must do alike.

It runs here in one process, and over real servers in `tests/faults/`, where the store holds more
than a test has put there: it is the names "one", "two" and "none" that belong to a test.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from apis.coordination.install import COORDINATION
from apis.core.install import CORE
from apis.gadgets.install import GADGETS
from apiserver.app import App
from apiserver.group import Group, Resource
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver

GROUPS = (CORE, COORDINATION, GADGETS)

CONTENT: dict[tuple[str, str], Any] = {
    ("Gadget", "v1"): {"spec": {"model": "a1"}},
    ("Service", "v1"): {"spec": {"ports": [{"port": 80}]}},
    ("Event", "v1"): {
        "involvedObject": {"namespace": "default", "name": "x", "kind": "Gadget"},
    },
}


@dataclass(frozen=True)
class Case:
    """One resource in one version."""

    group: Group
    resource: Resource
    version: str

    @property
    def api_version(self) -> str:
        return f"{self.group.name}/{self.version}" if self.group.name else self.version

    @property
    def qualified(self) -> str:
        name, group = self.resource.name, self.group.name
        return f"{name}.{group}" if group else name

    @property
    def collection(self) -> str:
        root = f"/apis/{self.api_version}" if self.group.name else f"/api/{self.version}"
        place = "/namespaces/default" if self.resource.namespaced else ""
        return f"{root}{place}/{self.resource.name}"

    def body(self, name: str = "one", **metadata: Any) -> Any:
        content = CONTENT.get((self.resource.kind, self.version), {})
        return {"metadata": {"name": name, **metadata}, **content}


def cases() -> Iterator[Case]:
    for group in GROUPS:
        for resource in group.resources:
            for version in group.versions:
                yield Case(group, resource, version)


@pytest.fixture
async def app() -> Any:
    made = make_app(*GROUPS)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def client(app: App) -> Driver:
    return Driver(app, authorization="Bearer root")


pytestmark = pytest.mark.parametrize(
    "case", list(cases()), ids=lambda case: f"{case.qualified}/{case.version}"
)


async def test_what_is_created_can_be_read_and_listed(client: Driver, case: Case) -> None:
    created = await client.post(case.collection, case.body(labels={"a": "b"}))
    read = await client.get(f"{case.collection}/one")
    listed = await client.get(f"{case.collection}?labelSelector=a%3Db")

    assert (created.code, read.code, listed.code) == (201, 200, 200)
    assert created.json == read.json
    assert (read.json["kind"], read.json["apiVersion"]) == (case.resource.kind, case.api_version)
    assert listed.json["kind"] == f"{case.resource.kind}List"
    assert listed.json["apiVersion"] == case.api_version
    (item,) = listed.json["items"]
    assert item == {k: v for k, v in read.json.items() if k not in ("kind", "apiVersion")}
    assert int(listed.json["metadata"]["resourceVersion"]) >= int(
        read.json["metadata"]["resourceVersion"]
    )


async def test_system_metadata_is_the_servers(client: Driver, case: Case) -> None:
    body = case.body(uid="mine", creationTimestamp=None, generation=77, selfLink="/x")

    metadata = (await client.post(case.collection, body)).json["metadata"]

    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"].endswith("Z")
    assert metadata.get("generation", 0) in (0, 1)
    assert "selfLink" not in metadata


async def test_names_are_generated(client: Driver, case: Case) -> None:
    body = case.body(generateName="gen-")
    del body["metadata"]["name"]

    created = await client.post(case.collection, body)

    assert created.code == 201
    assert created.json["metadata"]["name"].startswith("gen-")
    assert len(created.json["metadata"]["name"]) == len("gen-") + 5


async def test_the_same_name_twice_is_a_conflict(client: Driver, case: Case) -> None:
    await client.post(case.collection, case.body())

    again = await client.post(case.collection, case.body())

    assert again.code == 409
    assert again.json["reason"] == "AlreadyExists"
    assert again.json["message"] == f'{case.qualified} "one" already exists'


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_what_is_missing_is_not_found(client: Driver, case: Case, method: str) -> None:
    headers = {"content-type": "application/merge-patch+json"} if method == "PATCH" else {}
    json = {"GET": None, "DELETE": None, "PATCH": {}}.get(method, case.body("none"))

    answer = await client.send(method, f"{case.collection}/none", json=json, headers=headers)

    if method == "PUT" and case.resource.strategy.allow_create_on_update:
        assert answer.code == 201
        return
    assert answer.code == 404
    assert answer.json["message"] == f'{case.qualified} "none" not found'
    details = {"name": "none", "kind": case.resource.name}
    if case.group.name:
        details["group"] = case.group.name
    assert answer.json["details"] == details


async def test_an_update_needs_the_state_it_is_of(client: Driver, case: Case) -> None:
    first = (await client.post(case.collection, case.body())).json
    second = await client.put(
        f"{case.collection}/one", {**first, "metadata": {**first["metadata"], "labels": {"a": "1"}}}
    )

    late = await client.put(f"{case.collection}/one", first)

    assert second.code == 200
    assert second.json["metadata"]["labels"]["a"] == "1"
    assert late.code == 409
    assert late.json["reason"] == "Conflict"
    assert "the object has been modified" in late.json["message"]


async def test_writing_back_what_was_read_changes_nothing(client: Driver, case: Case) -> None:
    before = (await client.post(case.collection, case.body())).json

    after = await client.put(f"{case.collection}/one", before)

    assert (after.code, after.json) == (200, before)


async def test_a_merge_patch_changes_what_it_names(client: Driver, case: Case) -> None:
    before = (await client.post(case.collection, case.body(annotations={"k": "1"}))).json

    patched = await client.patch(
        f"{case.collection}/one", {"metadata": {"annotations": {"k": None, "l": "2"}}}
    )

    assert patched.code == 200
    assert patched.json["metadata"]["annotations"] == {"l": "2"}
    assert patched.json["metadata"]["uid"] == before["metadata"]["uid"]


async def test_a_dry_run_stores_nothing(client: Driver, case: Case) -> None:
    tried = await client.post(f"{case.collection}?dryRun=All", case.body())

    assert tried.code == 201
    assert "resourceVersion" not in tried.json["metadata"]
    assert (await client.get(f"{case.collection}/one")).code == 404


async def test_what_is_deleted_is_gone_and_its_uid_is_told(client: Driver, case: Case) -> None:
    created = (await client.post(case.collection, case.body())).json

    deleted = await client.delete(f"{case.collection}/one", {"propagationPolicy": "Background"})

    assert deleted.code == 200
    if case.resource.strategy.returns_deleted_object:
        assert deleted.json["kind"] == case.resource.kind
        return
    assert deleted.json["kind"] == "Status"
    assert deleted.json["status"] == "Success"
    assert deleted.json["details"]["uid"] == created["metadata"]["uid"]
    assert (await client.get(f"{case.collection}/one")).code == 404


async def test_finalizers_hold_a_deletion_up(client: Driver, case: Case) -> None:
    await client.post(case.collection, case.body(finalizers=["example.io/x"]))
    url = f"{case.collection}/one"

    marked = await client.delete(url)
    released = await client.patch(url, {"metadata": {"finalizers": None}})

    assert marked.code == 200
    assert marked.json["kind"] == case.resource.kind
    assert "deletionTimestamp" in marked.json["metadata"]
    assert released.code == 200
    if case.resource.name != "namespaces":
        assert (await client.get(url)).code == 404


async def test_a_collection_can_be_deleted(client: Driver, case: Case) -> None:
    for name in ("one", "two"):
        await client.post(case.collection, case.body(name, labels={"which": name}))

    answer = await client.delete(f"{case.collection}?labelSelector=which%3Done")

    if "deletecollection" not in case.resource.verbs:
        assert answer.code == 405
        return
    assert answer.code == 200
    assert [item["metadata"]["name"] for item in answer.json["items"]] == ["one"]
    assert (await client.get(f"{case.collection}/two")).code == 200


async def test_a_watch_tells_the_life_of_an_object(client: Driver, case: Case) -> None:
    selected = "watch=1&fieldSelector=metadata.name%3Done"
    async with client.stream(f"{case.collection}?{selected}") as stream:
        await client.post(case.collection, case.body())
        await client.patch(f"{case.collection}/one", {"metadata": {"labels": {"a": "1"}}})
        events = await stream.events(2)

    assert [event["type"] for event in events] == ["ADDED", "MODIFIED"]
    assert {event["object"]["kind"] for event in events} == {case.resource.kind}
    assert {event["object"]["apiVersion"] for event in events} == {case.api_version}


async def test_a_table_has_a_row_for_each_object(client: Driver, case: Case) -> None:
    await client.post(case.collection, case.body())

    table = await client.get(case.collection, accept="application/json;as=Table;v=v1;g=meta.k8s.io")

    columns = [column["name"] for column in table.json["columnDefinitions"]]
    rows = {row["cells"][columns.index("Name")]: row for row in table.json["rows"]}
    assert table.json["kind"] == "Table"
    assert len(rows["one"]["cells"]) == len(columns)
    assert rows["one"]["object"]["kind"] == "PartialObjectMetadata"


async def test_server_side_apply_creates_and_owns(client: Driver, case: Case) -> None:
    document = {
        "apiVersion": case.api_version,
        "kind": case.resource.kind,
        **case.body(labels={"a": "b"}),
    }
    headers = {"content-type": "application/apply-patch+yaml"}
    url = f"{case.collection}/one?fieldManager=me"

    first = await client.send("PATCH", url, json=document, headers=headers)
    again = await client.send("PATCH", url, json=document, headers=headers)

    assert (first.code, again.code) == (201, 200)
    assert first.json == again.json
    (entry,) = [e for e in first.json["metadata"]["managedFields"] if e["manager"] == "me"]
    assert entry["operation"] == "Apply"
    assert entry["fieldsV1"]["f:metadata"]["f:labels"]["f:a"] == {}


async def test_head_and_options_are_not_allowed(client: Driver, case: Case) -> None:
    answers = [await client.send(method, case.collection) for method in ("HEAD", "OPTIONS")]

    assert [answer.code for answer in answers] == [405, 405]
