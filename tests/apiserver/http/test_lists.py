"""Lists: pages, selectors, forms, and large ones."""

import pytest

from apimachinery.protobuf import ProtobufCodec
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS, gadget

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


async def fill(client: Driver, *names: str) -> None:
    for name in names:
        created = await client.post(GADGETS, gadget(name, labels={"name": name}))
        assert created.code == 201


def names_of(answer: object) -> list[str]:
    return [item["metadata"]["name"] for item in answer.json["items"]]  # type: ignore[attr-defined]


async def test_an_empty_list_has_items(client: Driver) -> None:
    answer = await client.get(GADGETS)

    assert answer.json["items"] == []
    assert int(answer.json["metadata"]["resourceVersion"]) > 0


async def test_a_list_takes_no_longer_than_its_client_has_time() -> None:
    app = make_app(wait=20)
    await app.start()
    client = Driver(app, authorization="Bearer root")

    late = await client.get(f"{GADGETS}?resourceVersion=99999&timeoutSeconds=1")
    enough = await client.get(f"{GADGETS}?timeoutSeconds=1")
    forever = await client.get(f"{GADGETS}?timeoutSeconds=0")

    assert (late.code, late.json["reason"]) == (504, "Timeout")
    assert late.json["message"] == "Timeout: request did not complete within the allotted timeout"
    assert (enough.code, forever.code) == (200, 200)
    await app.stop()


async def test_pages_hang_together(client: Driver) -> None:
    await fill(client, "a", "b", "c")

    first = await client.get(f"{GADGETS}?limit=2")
    await fill(client, "bb")
    token = first.json["metadata"]["continue"]
    second = await client.get(f"{GADGETS}?limit=2&continue={token}")

    assert names_of(first) == ["a", "b"]
    assert first.json["metadata"]["remainingItemCount"] == 1
    assert names_of(second) == ["c"]
    assert first.json["metadata"]["resourceVersion"] == second.json["metadata"]["resourceVersion"]
    assert "continue" not in second.json["metadata"]


async def test_all_namespaces(client: Driver) -> None:
    await fill(client, "a")
    await client.post(GADGETS.replace("default", "other"), gadget("b"))

    answer = await client.get("/apis/gadgets.example.io/v1/gadgets")

    assert names_of(answer) == ["a", "b"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("labelSelector=name%3Da", ["a"]),
        ("labelSelector=name+in+(a,c)", ["a", "c"]),
        ("labelSelector=name!%3Da", ["b", "c"]),
        ("fieldSelector=metadata.name%3Db", ["b"]),
        ("fieldSelector=metadata.name!%3Db", ["a", "c"]),
        ("unknown=parameter", ["a", "b", "c"]),
        ("limit=-1", ["a", "b", "c"]),
        ("limit=1&resourceVersion=0", ["a", "b", "c"]),
    ],
)
async def test_selectors(client: Driver, query: str, expected: list[str]) -> None:
    await fill(client, "a", "b", "c")
    await client.get(GADGETS)  # so that the cache has seen them, for who asks only the cache

    assert names_of(await client.get(f"{GADGETS}?{query}")) == expected


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("limit=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("labelSelector=%3D", 400, "found '=', expected: "),
        (
            "fieldSelector=spec.model%3Dx",
            400,
            '"spec.model" is not a known field selector: only "metadata.name",'
            ' "metadata.namespace"',
        ),
        ("continue=garbage!", 400, "invalid continue token: "),
        ("resourceVersion=x", 400, "invalid resource version: "),
        ("resourceVersionMatch=Exact", 422, "ListOptions.meta.k8s.io"),
        ("sendInitialEvents=true", 422, "ListOptions.meta.k8s.io"),
        ("labelSelector=%FF", 400, "invalid UTF-8 in parameter"),
    ],
)
async def test_options_that_are_wrong(client: Driver, query: str, code: int, message: str) -> None:
    answer = await client.get(f"{GADGETS}?{query}")

    assert answer.code == code
    assert answer.json["message"].startswith(message)


@pytest.mark.parametrize(
    ("include", "kind"), [("", "PartialObjectMetadata"), ("Object", "Gadget"), ("None", None)]
)
async def test_tables_include_as_much_of_the_object_as_asked(
    client: Driver, include: str, kind: str | None
) -> None:
    await fill(client, "a")

    answer = await client.get(f"{GADGETS}?includeObject={include}", accept=TABLE)

    (row,) = answer.json["rows"]
    assert answer.header("content-type") == "application/json"
    assert (row.get("object") or {}).get("kind") == kind


async def test_tables_of_something_else_are_refused(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}?includeObject=All", accept=TABLE)

    assert answer.code == 400
    assert answer.json["message"].startswith("Unable to convert to Table as requested: ")


async def test_metadata_alone_says_of_what_kind_each_item_is(client: Driver) -> None:
    await fill(client, "a")

    answer = await client.get(GADGETS, accept=PARTIAL)

    (item,) = answer.json["items"]
    assert answer.json["kind"] == "PartialObjectMetadataList"
    assert (item["kind"], item["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert "spec" not in item


async def test_protobuf_lists(client: Driver) -> None:
    await client.post(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})

    answer = await client.get(CONFIG_MAPS, accept="application/vnd.kubernetes.protobuf")

    envelope = ProtobufCodec().read_envelope(answer.body)
    assert (envelope.kind, envelope.api_version) == ("ConfigMapList", "v1")
    assert answer.header("content-type") == "application/vnd.kubernetes.protobuf"


async def test_large_lists_are_sent_in_slices(client: Driver) -> None:
    """No write is so large that it would keep other requests waiting for long."""
    for number in range(501):
        body = {"metadata": {"name": f"c{number:04}"}, "data": {"a": "x" * 2000}}
        await client.post(CONFIG_MAPS, body)

    whole = await client.get(CONFIG_MAPS)
    async with client.stream(CONFIG_MAPS) as stream:
        pieces = []
        while (piece := await stream.write()) is not None:
            pieces.append(piece)

    assert len(whole.json["items"]) == 501
    assert b"".join(pieces) == whole.body
    assert len(pieces) > 1


async def test_versions_are_views_of_one_object(client: Driver) -> None:
    """What was written as v1beta1 can be read as v1."""
    beta = GADGETS.replace("v1", "v1beta1")
    await client.post(beta, {"metadata": {"name": "x"}, "spec": {"model": "a1", "timeout": "90s"}})

    stable = await client.get(f"{GADGETS}/x")

    assert stable.json["spec"]["timeoutSeconds"] == 90


async def test_what_has_no_namespace_is_in_none(client: Driver) -> None:
    selector = "fieldSelector=metadata.namespace%3Dx"
    await client.post("/api/v1/namespaces", {"metadata": {"name": "x"}})

    listed = await client.get(f"/api/v1/namespaces?{selector}")

    assert (listed.code, listed.json["items"]) == (200, [])
