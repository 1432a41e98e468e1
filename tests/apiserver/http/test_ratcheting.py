"""Old values: updates of objects that were stored before the rules became stricter.

Each lamp is written by a server of the first release, and updated through one of the second.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from apimachinery.serialization.media_types import PROTOBUF
from apis.core.install import CORE
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.group import Group
from apiserver.http.response import protobuf_codec
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.http.conftest import USERS
from tests.apiserver.http.driver import Answer, Driver
from tests.apiserver.http.lamps import BETA, GROUP, LAMPS, NEW, OLD, Lamp, lamp
from tests.roles import standard_authorizer

pytestmark = pytest.mark.asyncio(loop_scope="module")

Change = dict[str, Any]


@dataclass
class Releases:
    """Servers of both releases on one store."""

    old: Driver
    new: Driver
    numbers: Any

    async def store(self, name: str = "", *, status: Any = None, **spec: Any) -> str:
        """Store a lamp as the first release does, and return its URL."""
        name = name or f"lamp-{next(self.numbers)}"
        url = f"{LAMPS}/{name}"
        answer = await self.old.post(LAMPS, lamp(name, **spec))
        if status is not None:
            answer = await self.old.patch(f"{url}/status", {"status": status})
        assert answer.code < 300, answer.json
        return url


def driver_of(group: Group, file: Path) -> Driver:
    app = App(
        (CORE, group),
        lambda: open_sqlite(f"sqlite:///{file}"),
        authentication=Authentication([TokenAuthenticator(USERS)]),
        authorizer=standard_authorizer(),
    )
    return Driver(app, authorization="Bearer root")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def releases(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Releases]:
    file = tmp_path_factory.mktemp("releases") / "store.db"
    old, new = driver_of(OLD, file), driver_of(NEW, file)
    await old.app.start()
    await new.app.start()
    yield Releases(old, new, count())
    await new.app.stop()
    await old.app.stop()


def causes(answer: Answer) -> list[str]:
    assert answer.code == 422, answer.json
    return [f"{c['field']}: {c['message']}" for c in answer.json["details"]["causes"]]


# The ways to change an object: each merges a document into it.


def merged(document: Any, change: Any) -> Any:
    if not isinstance(document, dict) or not isinstance(change, dict):
        return change
    return {**document, **{name: merged(document.get(name), change[name]) for name in change}}


async def put(client: Driver, url: str, change: Change) -> Answer:
    return await client.put(url, merged((await client.get(url)).json, change))


async def json_patch(client: Driver, url: str, change: Change) -> Answer:
    current = (await client.get(url)).json
    operations = [
        {"op": "add", "path": f"/{part}", "value": merged(current.get(part, {}), change[part])}
        for part in change
    ]
    return await client.patch(url, operations, "json-patch+json")


async def merge_patch(client: Driver, url: str, change: Change) -> Answer:
    return await client.patch(url, change)


async def strategic_patch(client: Driver, url: str, change: Change) -> Answer:
    return await client.patch(url, change, "strategic-merge-patch+json")


async def apply(client: Driver, url: str, change: Change) -> Answer:
    version, name = url.split("/")[3], url.split("/")[7]
    kind = {"apiVersion": f"{GROUP}/{version}", "kind": "Lamp", "metadata": {"name": name}}
    document = merged(kind, change)
    url += "?fieldManager=test&force=true"
    return await client.patch(url, document, "apply-patch+yaml")


Way = Callable[[Driver, str, Change], Awaitable[Answer]]
ways = pytest.mark.parametrize("way", [put, json_patch, merge_patch, strategic_patch, apply])


@dataclass
class Case:
    """An old value that the second release refuses, and another one that it refuses as well."""

    old: Change
    touched: Change
    error: str


CASES = {
    "narrowed Literal": Case(
        {"mode": "blink"},
        {"mode": "strobe"},
        'spec.mode: Invalid value: "strobe": spec.mode in body supported values:'
        " 'dim' or 'bright'",
    ),
    "new required field": Case(
        {"room": ""},
        {"room": "x"},
        'spec.room: Invalid value: "x": spec.room in body should be at least 3 chars long',
    ),
    "tightened bound in a list": Case(
        {"bulbs": [{"name": "a", "watts": 40}, {"name": "b", "watts": 90}]},
        {"bulbs": [{"name": "a", "watts": 40}, {"name": "b", "watts": 80}]},
        "spec.bulbs[1].watts: Invalid value: 80: spec.bulbs[1].watts in body should be less than"
        " or equal to 60",
    ),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@ways
@cases
async def test_an_update_that_leaves_the_old_value_passes(
    releases: Releases, case: Case, way: Way
) -> None:
    url = await releases.store(**case.old)
    before = (await releases.new.get(url)).json

    answer = await way(
        releases.new, url, {"metadata": {"labels": {"a": "b"}}, "spec": {"note": "new"}}
    )

    assert answer.code == 200, answer.json
    assert answer.json["metadata"]["labels"] == {"a": "b"}
    assert answer.json["spec"].items() >= {**before["spec"], "note": "new"}.items()
    assert (await releases.new.get(url)).json == answer.json


@ways
@cases
async def test_another_bad_value_is_refused(releases: Releases, case: Case, way: Way) -> None:
    url = await releases.store(**case.old)
    before = (await releases.new.get(url)).json

    answer = await way(releases.new, url, {"spec": case.touched})

    assert causes(answer) == [case.error]
    assert (await releases.new.get(url)).json == before


@ways
@cases
async def test_only_the_new_error_of_another_field_is_reported(
    releases: Releases, case: Case, way: Way
) -> None:
    url = await releases.store(**case.old)

    answer = await way(releases.new, url, {"spec": {"replicas": 8}})

    assert causes(answer) == [
        "spec.replicas: Invalid value: 8: spec.replicas in body should be less than or equal to 5"
    ]


@ways
@cases
async def test_the_old_value_can_be_corrected(releases: Releases, case: Case, way: Way) -> None:
    url = await releases.store(**case.old)
    bulbs = [{"name": "a", "watts": 40}, {"name": "b", "watts": 50}]

    answer = await way(
        releases.new, url, {"spec": {"mode": "dim", "room": "attic", "bulbs": bulbs}}
    )
    back = await way(releases.new, url, {"spec": merged({"room": ""}, case.old)})

    assert answer.code == 200, answer.json
    assert len(causes(back)) >= 1


@ways
@cases
async def test_the_status_can_be_written(releases: Releases, case: Case, way: Way) -> None:
    url = await releases.store(**case.old)

    answer = await way(releases.new, f"{url}/status", {"status": {"message": "fine"}})

    assert answer.code == 200, answer.json
    assert answer.json["status"]["message"] == "fine"


@ways
async def test_old_values_of_the_status(releases: Releases, way: Way) -> None:
    url = await releases.store(status={"phase": "Broken"})

    labelled = await way(releases.new, url, {"metadata": {"labels": {"a": "b"}}})
    kept = await way(releases.new, f"{url}/status", {"status": {"message": "fine"}})
    negative = await way(releases.new, f"{url}/status", {"status": {"ready": -1}})
    repaired = await way(releases.new, f"{url}/status", {"status": {"phase": "On"}})
    broken = await way(releases.new, f"{url}/status", {"status": {"phase": "Broken"}})

    assert [labelled.code, kept.code, repaired.code] == [200, 200, 200]
    assert kept.json["status"] == {"phase": "Broken", "message": "fine"}
    assert causes(negative) == ["status.ready: Invalid value: -1: must not be negative"]
    assert causes(broken) == [
        'status.phase: Invalid value: "Broken": status.phase in body supported values:'
        " 'Off' or 'On'"
    ]


@cases
async def test_the_last_finalizer_can_be_removed(releases: Releases, case: Case) -> None:
    url = await releases.store(**case.old)
    held = await releases.new.patch(url, {"metadata": {"finalizers": ["example.io/hold"]}})
    await releases.new.delete(url)

    removed = await releases.new.patch(url, {"metadata": {"finalizers": None}})

    assert (held.code, removed.code) == (200, 200)
    assert (await releases.new.get(url)).code == 404


@cases
async def test_the_object_can_be_scaled(releases: Releases, case: Case) -> None:
    url = await releases.store(**case.old)

    scaled = await releases.new.patch(f"{url}/scale", {"spec": {"replicas": 3}})
    refused = await releases.new.patch(f"{url}/scale", {"spec": {"replicas": 7}})

    assert (scaled.code, scaled.json["spec"]["replicas"]) == (200, 3)
    assert causes(refused) == [
        "spec.replicas: Invalid value: 7: spec.replicas in body should be less than or equal to 5"
    ]


async def test_an_old_count_of_replicas_is_ratcheted_by_the_scale(releases: Releases) -> None:
    url = f"{await releases.store(replicas=8)}/scale"

    same = await put(releases.new, url, {})
    other = await put(releases.new, url, {"spec": {"replicas": 7}})
    lower = await put(releases.new, url, {"spec": {"replicas": 4}})

    assert [same.code, other.code, lower.code] == [200, 422, 200]


@cases
async def test_a_subresource_of_the_group_gets_the_object(releases: Releases, case: Case) -> None:
    url = f"{await releases.store(**case.old)}/repair"

    patched = await releases.new.patch(url, {"spec": {"note": "patched"}})
    refused = await releases.new.patch(url, {"spec": case.touched})
    whole = patched.json
    whole["spec"]["note"] = "put"
    replaced = await releases.new.put(url, whole)

    assert [patched.code, replaced.code] == [200, 200]
    assert replaced.json["spec"]["note"] == "put"
    assert causes(refused) == [case.error]


@ways
async def test_fields_have_the_names_of_the_version(releases: Releases, way: Way) -> None:
    name = (await releases.store(mode="blink")).rpartition("/")[2]
    url = f"{BETA}/{name}"

    passed = await way(releases.new, url, {"spec": {"note": "new"}})
    refused = await way(releases.new, url, {"spec": {"light": "strobe"}})

    assert (passed.code, passed.json["spec"]["light"]) == (200, "blink")
    assert [cause.partition(":")[0] for cause in causes(refused)] == ["spec.light"]


async def test_owners_of_fields_survive_an_apply_in_another_version(releases: Releases) -> None:
    url = await releases.store(mode="blink", note="mine")
    beta = f"{BETA}/{url.rpartition('/')[2]}"
    kind = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Lamp"}
    ours = {**kind, "spec": {"light": "blink", "room": "hall"}}

    first = await releases.new.patch(
        f"{beta}?fieldManager=beta&force=true", ours, "apply-patch+yaml"
    )
    await apply(releases.new, url, {"spec": {"note": "new"}})
    managers = (await releases.new.get(url)).json["metadata"]["managedFields"]

    assert first.code == 200, first.json
    (owned,) = (entry for entry in managers if entry["manager"] == "beta")
    assert owned["fieldsV1"]["f:spec"] == {"f:light": {}, "f:room": {}}


async def test_protobuf_bodies_are_ratcheted(releases: Releases) -> None:
    url = await releases.store(mode="blink")
    body = (await releases.new.get(url, accept=PROTOBUF)).body
    codec = protobuf_codec()
    changed = codec.decode(Lamp, codec.read_envelope(body).raw, lenient=True)
    changed.spec.mode = "strobe"  # type: ignore[assignment]
    other = codec.encode(changed, api_version=f"{GROUP}/v1", kind="Lamp")
    headers = {"content-type": PROTOBUF}

    refused = await releases.new.send("PUT", url, body=other, headers=headers)
    passed = await releases.new.send("PUT", url, body=body, headers=headers)

    assert causes(refused) == [CASES["narrowed Literal"].error]
    assert (passed.code, passed.json["spec"]["mode"]) == (200, "blink")


# Bodies that lack what is required


async def test_a_put_without_the_new_required_field_passes(releases: Releases) -> None:
    """As from a client that does not know the field."""
    url = await releases.store(room="")
    document = (await releases.old.get(url)).json
    assert "room" not in document["spec"]
    document["spec"]["note"] = "new"

    answer = await releases.new.put(url, document)

    assert answer.code == 200, answer.json


async def test_a_required_field_that_has_a_value_cannot_be_removed(releases: Releases) -> None:
    url = await releases.store(room="hall", mode="blink")
    document = (await releases.old.get(url)).json
    del document["spec"]["room"]

    answer = await releases.new.put(url, document)
    patched = await releases.new.patch(url, {"spec": {"room": None}})

    assert causes(answer) == causes(patched) == ["spec.room: Required value"]


async def test_wrong_types_are_no_matter_of_ratcheting(releases: Releases) -> None:
    url = await releases.store(mode="blink")

    answer = await put(releases.new, url, {"spec": {"note": 5}})

    assert answer.code == 400, answer.json


# Elements of lists


async def test_an_element_may_move_but_not_be_copied(releases: Releases) -> None:
    bad, good = {"name": "a", "watts": 90}, {"name": "b", "watts": 5}
    url = await releases.store(bulbs=[bad, good])

    moved = await put(releases.new, url, {"spec": {"bulbs": [good, bad]}})
    copied = await put(
        releases.new, url, {"spec": {"bulbs": [{"name": "c", "watts": 90}, bad, good]}}
    )

    assert moved.code == 200, moved.json
    assert [cause.partition(":")[0] for cause in causes(copied)] == ["spec.bulbs[0].watts"]


# Rules of a strategy


@ways
async def test_errors_of_a_strategy_are_ratcheted(releases: Releases, way: Way) -> None:
    url = await releases.store(note="bad")

    labelled = await way(releases.new, url, {"metadata": {"labels": {"a": "b"}}})
    worse = await way(releases.new, url, {"spec": {"note": "worse"}})

    assert labelled.code == 200, labelled.json
    assert causes(worse) == ['spec.note: Invalid value: "worse": must be good']


async def test_a_strategy_that_fails_on_old_objects_has_no_old_errors(releases: Releases) -> None:
    url = await releases.store("fragile", note="bad")

    answer = await merge_patch(releases.new, url, {"spec": {"note": "worse"}})

    assert causes(answer) == ['spec.note: Invalid value: "worse": must be good']


async def test_errors_about_the_change_itself_are_no_old_values(releases: Releases) -> None:
    labels = {"metadata": {"labels": {"a": "b"}}}
    locked = await releases.store("locked", note="bad")
    growing = await releases.store("growing", note="bad")

    refused = await merge_patch(releases.new, locked, labels)
    same = await merge_patch(releases.new, growing, labels)
    grown = await merge_patch(releases.new, growing, {"spec": {"replicas": 2}})

    assert causes(refused) == ["spec: Forbidden: is locked"]
    assert causes(same) == ["spec.replicas: Invalid value: 1: must grow"]
    assert grown.code == 200, grown.json


# What does not change


async def test_a_new_object_has_no_old_values(releases: Releases) -> None:
    created = await releases.new.post(LAMPS, lamp("fresh", mode="blink", room="x"))
    applied = await apply(releases.new, f"{LAMPS}/fresh", {"spec": {"mode": "blink"}})
    missing = await releases.new.put(f"{LAMPS}/fresh", lamp("fresh", mode="blink"))

    assert [cause.partition(":")[0] for cause in causes(created)] == ["spec.mode", "spec.room"]
    assert [cause.partition(":")[0] for cause in causes(applied)] == ["spec.mode", "spec.room"]
    assert missing.code == 404


async def test_a_stale_object_conflicts_before_its_values_are_judged(releases: Releases) -> None:
    """Its value may have been corrected since it was read."""
    url = await releases.store(mode="blink")
    stale = (await releases.new.get(url)).json
    await releases.new.patch(url, {"spec": {"mode": "dim"}})

    answer = await releases.new.put(url, stale)

    assert answer.code == 409, answer.json


async def test_values_that_a_write_ignores_are_not_judged(releases: Releases) -> None:
    url = await releases.store()

    spec = await put(releases.new, url, {"status": {"phase": "Broken"}, "spec": {"note": "new"}})
    status = await put(
        releases.new, f"{url}/status", {"status": {"message": "m"}, "spec": {"mode": "blink"}}
    )

    assert (spec.code, spec.json["status"]) == (200, {"phase": "Off"})
    assert (status.code, status.json["spec"]["mode"]) == (200, "dim")
