"""The verbs of a resource client, against recorded responses of a real server."""

import pytest

from apimachinery.errors import AlreadyExists, Conflict, Expired, Invalid, NotFound
from apimachinery.meta.status import Status
from apimachinery.meta.types import LabelSelector, LabelSelectorRequirement
from apimachinery.meta.unstructured import Unstructured
from apis.gadgets import v1
from client import ALL_NAMESPACES, AsyncClient, InvalidRequest, PatchType
from client.interface import WriteOptions
from tests.client.fakes import (
    ALL_GADGETS,
    GADGETS,
    Answer,
    FakeClock,
    FakeServer,
    answer,
    gadget,
    gadget_list,
    status,
)


def new_gadget(name: str = "a") -> v1.Gadget:
    return v1.Gadget(metadata={"name": name}, spec=v1.GadgetSpec(model="a1"))  # type: ignore[arg-type]


async def test_get_gives_an_object_of_the_class(server: FakeServer, client: AsyncClient) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a", replicas=3)))

    fetched = await client.of(v1.Gadget).get("a")

    assert type(fetched) is v1.Gadget
    assert fetched.spec.replicas == 3


async def test_a_model_is_created_with_its_kind(server: FakeServer, client: AsyncClient) -> None:
    server.on("POST", GADGETS, answer(gadget("a"), 201))

    await client.of(v1.Gadget).create(new_gadget(), field_manager="me", dry_run=True)

    sent = server.requests[-1]
    assert sent.json["kind"] == "Gadget"
    assert sent.json["apiVersion"] == "gadgets.example.io/v1"
    assert sent.query == {"fieldManager": "me", "dryRun": "All"}
    assert sent.header("content-type") == "application/json"


async def test_a_dict_may_leave_out_its_kind_and_hold_models(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("POST", GADGETS, answer(gadget("a"), 201))

    await client.of(v1.Gadget).create(
        {"metadata": {"name": "a"}, "spec": v1.GadgetSpec(model="b2", timeout_seconds=5)}
    )

    assert server.requests[-1].json["kind"] == "Gadget"
    assert server.requests[-1].json["spec"]["timeoutSeconds"] == 5


async def test_an_objects_own_namespace_counts_unless_one_was_asked_for(
    server: FakeServer, client: AsyncClient
) -> None:
    there = GADGETS.replace("default", "there")
    server.on("POST", there, answer(gadget("a"), 201))
    body = {"metadata": {"name": "a", "namespace": "there"}, "spec": {"model": "x"}}

    await client.of(v1.Gadget).create(body)
    await client.of(v1.Gadget, namespace=ALL_NAMESPACES).create(body)
    with pytest.raises(NotFound):
        await client.of(v1.Gadget, namespace="here").create(body)

    posts = [path for path in server.paths() if path.startswith("POST")]
    assert posts == [f"POST {there}"] * 2 + [f"POST {there.replace('there', 'here')}"]


async def test_an_object_of_all_namespaces_must_be_named_with_one(client: AsyncClient) -> None:
    everywhere = client.of(v1.Gadget, namespace=ALL_NAMESPACES)

    with pytest.raises(InvalidRequest, match="an empty namespace may not be set"):
        await everywhere.get("a")
    with pytest.raises(InvalidRequest, match="an empty namespace may not be set during creation"):
        await everywhere.create({"metadata": {"name": "a"}})


@pytest.mark.parametrize("name", ["", "a/b", "..", "a%b"])
async def test_a_name_that_fits_no_url_is_not_sent(
    name: str, server: FakeServer, client: AsyncClient
) -> None:
    with pytest.raises(InvalidRequest, match="resource name"):
        await client.of(v1.Gadget).get(name)

    assert not any(request.path.startswith(GADGETS) for request in server.requests)


async def test_list_asks_for_every_page(server: FakeServer, client: AsyncClient) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), gadget("b"), **{"continue": "next"})),
        answer(gadget_list(gadget("c"))),
    )
    gadgets = client.of(v1.Gadget)

    names = [
        g.metadata.name
        async for g in gadgets.list(labels={"app": "x"}, resource_version="5", page_size=2)
    ]

    assert names == ["a", "b", "c"]
    first, second = [request.query for request in server.requests if request.path == GADGETS]
    assert first == {"labelSelector": "app=x", "limit": "2", "resourceVersion": "5"}
    assert second == {"labelSelector": "app=x", "limit": "2", "continue": "next"}


async def test_a_list_that_expires_in_the_middle_says_so(
    server: FakeServer, client: AsyncClient
) -> None:
    expired = {**status(410, "Expired"), "metadata": {"continue": "fresh"}}
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), **{"continue": "old"})),
        answer(expired, 410),
        answer(gadget_list(gadget("b"))),
    )

    with pytest.raises(Expired):
        [g async for g in client.of(v1.Gadget).list(page_size=1)]


async def test_a_list_goes_on_inconsistently_when_that_is_wanted(
    server: FakeServer, client: AsyncClient
) -> None:
    expired = {**status(410, "Expired"), "metadata": {"continue": "fresh"}}
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), **{"continue": "old"})),
        answer(expired, 410),
        answer(gadget_list(gadget("b"))),
    )

    names = [
        g.metadata.name async for g in client.of(v1.Gadget).list(page_size=1, inconsistent=True)
    ]

    assert names == ["a", "b"]
    assert server.requests[-1].query["continue"] == "fresh"


async def test_a_whole_list_that_expires_is_asked_for_in_one_page(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on(
        "GET",
        GADGETS,
        answer(gadget_list(gadget("a"), **{"continue": "old"})),
        answer(status(410, "Expired"), 410),
        answer(gadget_list(gadget("a"), gadget("b"), version="20")),
    )

    page = await client.of(v1.Gadget).list(page_size=1).all()

    assert [g.metadata.name for g in page] == ["a", "b"]
    assert page.resource_version == "20"
    assert "limit" not in server.requests[-1].query


async def test_items_without_a_kind_are_given_theirs(
    server: FakeServer, client: AsyncClient
) -> None:
    """Servers omit kind and apiVersion in the items of built-in types."""
    bare = {key: value for key, value in gadget("a").items() if key not in ("kind", "apiVersion")}
    server.on("GET", GADGETS, answer(gadget_list(bare)))

    page = await client.of(v1.Gadget).page()
    untyped = await client.resource("gadgets").page()

    assert (page.items[0].kind, page.items[0].api_version) == ("Gadget", "gadgets.example.io/v1")
    assert untyped.items[0].kind == "Gadget"


async def test_a_list_with_null_items_is_empty(server: FakeServer, client: AsyncClient) -> None:
    server.on("GET", GADGETS, answer({**gadget_list(), "items": None}))

    assert len(await client.of(v1.Gadget).page()) == 0


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ("a in (b,c)", "a in (b,c)"),
        ({"b": "2", "a": "1"}, "a=1,b=2"),
        (LabelSelector(match_labels={"a": "1"}), "a=1"),
        (
            LabelSelector(match_expressions=[LabelSelectorRequirement(key="a", operator="Exists")]),
            "a",
        ),
    ],
)
async def test_labels_are_text_a_dict_or_a_selector(
    labels: object, text: str, server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", ALL_GADGETS, answer(gadget_list()))

    await client.of(v1.Gadget, namespace=ALL_NAMESPACES).page(labels=labels, fields={"a": "b"})  # type: ignore[arg-type]

    assert server.requests[-1].query["labelSelector"] == text
    assert server.requests[-1].query["fieldSelector"] == "a=b"


async def test_options_of_a_list_are_passed_on_unchanged(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", GADGETS, answer(gadget_list()))
    gadgets = client.of(v1.Gadget)

    await gadgets.page(
        limit=7,
        continue_="token",
        labels="a=b",
        fields="metadata.name=x",
        resource_version="5",
        resource_version_match="NotOlderThan",
        timeout_seconds=30,
    )

    assert server.requests[-1].query == {
        "limit": "7",
        "continue": "token",
        "labelSelector": "a=b",
        "fieldSelector": "metadata.name=x",
        "resourceVersion": "5",
        "resourceVersionMatch": "NotOlderThan",
        "timeoutSeconds": "30",
    }


@pytest.mark.parametrize("verb", ["create", "update", "patch", "apply", "status"])
async def test_options_of_a_write_are_passed_on_unchanged(
    verb: str, server: FakeServer, client: AsyncClient
) -> None:
    for method, path in (
        ("POST", GADGETS),
        ("PUT", f"{GADGETS}/a"),
        ("PATCH", f"{GADGETS}/a"),
        ("PATCH", f"{GADGETS}/a/status"),
    ):
        server.on(method, path, answer(gadget("a")))
    gadgets = client.of(v1.Gadget)
    options: WriteOptions = {
        "dry_run": True,
        "field_manager": "me",
        "field_validation": "Strict",
    }

    match verb:
        case "create":
            await gadgets.create(gadget("a"), **options)
        case "update":
            await gadgets.update(gadget("a"), **options)
        case "patch":
            await gadgets.patch("a", {}, **options)
        case "apply":
            await gadgets.apply(gadget("a"), force=True, **options)
        case _:
            await gadgets.status.patch("a", {}, **options)

    forced = {"force": "true"} if verb == "apply" else {}
    sent = {"dryRun": "All", "fieldManager": "me", "fieldValidation": "Strict"}
    assert server.requests[-1].query == sent | forced


async def test_update_puts_the_object_where_its_name_is(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("PUT", f"{GADGETS}/a", answer(gadget("a", "2")))

    stored = await client.of(v1.Gadget).update(new_gadget())

    assert stored.metadata.resource_version == "2"


@pytest.mark.parametrize(
    ("patch", "kind", "media_type"),
    [
        ({"spec": {"replicas": 2}}, None, "application/merge-patch+json"),
        (
            [{"op": "remove", "path": "/spec"}],
            None,
            "application/json-patch+json",
        ),
        ({"spec": {}}, PatchType.STRATEGIC, "application/strategic-merge-patch+json"),
        (b'{"a":1}', PatchType.MERGE, "application/merge-patch+json"),
    ],
)
async def test_the_kind_of_a_patch_is_its_media_type(
    patch: object,
    kind: PatchType | None,
    media_type: str,
    server: FakeServer,
    client: AsyncClient,
) -> None:
    server.on("PATCH", f"{GADGETS}/a", answer(gadget("a")))

    await client.of(v1.Gadget).patch("a", patch, kind)  # type: ignore[arg-type]

    assert server.requests[-1].header("content-type") == media_type


async def test_apply_sends_what_is_wanted_and_by_whom(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("PATCH", f"{GADGETS}/a", answer(gadget("a")))
    wanted = {"metadata": {"name": "a", "managedFields": []}, "spec": {"replicas": 3}}

    await client.of(v1.Gadget).apply(wanted, field_manager="me", force=True)

    sent = server.requests[-1]
    assert sent.header("content-type") == "application/apply-patch+yaml"
    assert sent.query == {"fieldManager": "me", "force": "true"}
    assert sent.json == {
        "kind": "Gadget",
        "apiVersion": "gadgets.example.io/v1",
        "metadata": {"name": "a"},
        "spec": {"replicas": 3},
    }


async def test_apply_without_a_manager_is_refused_here(client: AsyncClient) -> None:
    with pytest.raises(InvalidRequest, match="field_manager"):
        await client.of(v1.Gadget).apply({"metadata": {"name": "a"}})


async def test_wrappers_set_the_options_of_every_write(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("POST", GADGETS, answer(gadget("a"), 201))
    server.on("DELETE", f"{GADGETS}/a", answer(gadget("a")))
    gadgets = client.of(v1.Gadget).as_manager("me").dry_run()

    await gadgets.create(new_gadget())
    await gadgets.create(new_gadget(), field_manager="you")
    await gadgets.delete("a")

    posts = [request.query for request in server.requests if request.method == "POST"]
    assert posts == [
        {"dryRun": "All", "fieldManager": "me"},
        {"dryRun": "All", "fieldManager": "you"},
    ]
    assert server.requests[-1].json == {"dryRun": ["All"]}


async def test_delete_gives_the_status_or_the_object_that_lives_on(
    server: FakeServer, client: AsyncClient
) -> None:
    gone = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "group": "gadgets.example.io", "kind": "gadgets", "uid": "u"},
    }
    server.on("DELETE", f"{GADGETS}/a", answer(gone), answer(gadget("a", finalizers=["x/y"])))
    gadgets = client.of(v1.Gadget)

    first = await gadgets.delete("a", propagation="Foreground", grace_period=0, uid="u")
    second = await gadgets.delete("a")

    assert isinstance(first, Status)
    assert isinstance(second, v1.Gadget)
    assert [request.body for request in server.requests[-1:]] == [b""]
    assert server.requests[-2].json == {
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"},
    }


async def test_delete_can_ignore_what_the_store_cannot_read(
    server: FakeServer, client: AsyncClient
) -> None:
    gone = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200}
    server.on("DELETE", f"{GADGETS}/a", answer(gone))

    deleted = await client.of(v1.Gadget).delete("a", ignore_store_read_error=True)

    assert isinstance(deleted, Status)
    assert server.requests[-1].json == {"ignoreStoreReadErrorWithClusterBreakingPotential": True}


async def test_delete_collection_selects_and_gives_what_was_deleted(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("DELETE", GADGETS, answer(gadget_list(gadget("a"))))

    page = await client.of(v1.Gadget).delete_collection(
        labels="app=x", options={"propagation": "Background"}
    )

    assert [g.metadata.name for g in page] == ["a"]
    assert server.requests[-1].query == {"labelSelector": "app=x"}
    assert server.requests[-1].json == {"propagationPolicy": "Background"}


async def test_subresources_have_their_own_path(server: FakeServer, client: AsyncClient) -> None:
    scale = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"replicas": 2},
        "status": {"replicas": 1, "selector": "app=a"},
    }
    server.on("PATCH", f"{GADGETS}/a/status", answer(gadget("a")))
    server.on("GET", f"{GADGETS}/a/scale", answer(scale))
    server.on("PUT", f"{GADGETS}/a/scale", answer(scale))
    server.on("POST", f"{GADGETS}/a/token", answer({"kind": "Token", "status": {"token": "t"}}))
    gadgets = client.of(v1.Gadget)

    await gadgets.status.patch("a", {"status": {"readyReplicas": 3}})
    fetched = await gadgets.scale.get("a")
    fetched.spec.replicas = 5
    await gadgets.scale.update(fetched)
    token = await gadgets.subresource("token").create("a", {"kind": "Token"})

    assert server.requests[-2].json["kind"] == "Scale"
    assert server.requests[-2].json["spec"] == {"replicas": 5}
    assert isinstance(token, Unstructured)
    assert token["status"] == {"token": "t"}


async def test_metadata_is_read_alone(server: FakeServer, client: AsyncClient) -> None:
    partial = {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "a"},
    }
    server.on("GET", f"{GADGETS}/a", answer(partial))
    server.on("GET", GADGETS, answer({"kind": "PartialObjectMetadataList", "items": [partial]}))
    metadata = client.of(v1.Gadget).metadata

    fetched = await metadata.get("a")
    page = await metadata.page()

    assert fetched.metadata.name == page.items[0].metadata.name == "a"
    accepted = [request.header("accept").partition(",")[0] for request in server.requests[-2:]]
    assert accepted == [
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    ]


async def test_a_table_is_made_by_the_server(server: FakeServer, client: AsyncClient) -> None:
    column = {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}
    table = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {},
        "columnDefinitions": [column],
        "rows": [{"cells": ["a"], "object": {"metadata": {"name": "a"}}}],
    }
    server.on("GET", GADGETS, answer(table))

    fetched = await client.of(v1.Gadget).table(include_object="None")

    assert [row.cells for row in fetched.rows] == [["a"]]
    assert "as=Table;g=meta.k8s.io;v=v1" in server.requests[-1].header("accept")
    assert server.requests[-1].query == {"includeObject": "None"}


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (404, "NotFound", NotFound),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (422, "Invalid", Invalid),
    ],
)
async def test_a_status_becomes_the_error_of_its_reason(
    code: int, reason: str, error: type[Exception], server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(status(code, reason, "because", name="a"), code))

    with pytest.raises(error, match="because") as caught:
        await client.of(v1.Gadget).get("a")

    assert caught.value.details.name == "a"  # type: ignore[attr-defined]


async def test_a_text_404_says_that_there_is_no_such_resource(client: AsyncClient) -> None:
    with pytest.raises(NotFound) as caught:
        await client.of(v1.Gadget).get("a")

    assert str(caught.value) == (
        "the server could not find the requested resource (get gadgets.gadgets.example.io a)"
    )
    assert caught.value.causes[0].message == "404 page not found"


async def test_edit_writes_what_the_block_changed(server: FakeServer, client: AsyncClient) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a", "1")))
    server.on("PUT", f"{GADGETS}/a", answer(gadget("a", "2", replicas=2)))

    async with client.of(v1.Gadget).edit("a") as g:
        g.spec.replicas += 1

    assert server.requests[-1].json["spec"]["replicas"] == 2
    assert server.requests[-1].json["metadata"]["resourceVersion"] == "1"
    assert g.metadata.resource_version == "2"


async def test_edit_without_a_change_writes_nothing(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))

    async with client.of(v1.Gadget).edit("a"):
        pass

    assert server.requests[-1].method == "GET"


async def test_edit_writes_nothing_when_the_block_fails(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))

    with pytest.raises(RuntimeError, match="changed my mind"):
        async with client.of(v1.Gadget).edit("a") as g:
            g.spec.replicas = 9
            raise RuntimeError("changed my mind")

    assert server.requests[-1].method == "GET"


async def test_edit_is_repeated_on_the_newest_state_after_a_conflict(
    server: FakeServer, client: AsyncClient
) -> None:
    newer = gadget("a", "5", labels={"by": "somebody"})
    server.on("GET", f"{GADGETS}/a", answer(gadget("a", "1")), answer(newer))
    server.on("PUT", f"{GADGETS}/a", answer(status(409, "Conflict"), 409), answer(gadget("a", "6")))

    async with client.of(v1.Gadget).edit("a") as g:
        g.spec.replicas = 7

    sent = server.requests[-1].json
    assert sent["metadata"]["resourceVersion"] == "5"
    assert sent["metadata"]["labels"] == {"by": "somebody"}
    assert sent["spec"]["replicas"] == 7


async def test_edit_of_a_field_that_somebody_else_changed_is_a_conflict(
    server: FakeServer, client: AsyncClient
) -> None:
    """Both clients incremented the same counter: writing either value would lose an increment."""
    server.on("GET", f"{GADGETS}/a", answer(gadget("a", "1")), answer(gadget("a", "5", replicas=2)))
    server.on("PUT", f"{GADGETS}/a", answer(status(409, "Conflict"), 409))

    with pytest.raises(Conflict):
        async with client.of(v1.Gadget).edit("a") as g:
            g.spec.replicas += 1

    assert [request.method for request in server.requests].count("PUT") == 1


async def test_modify_runs_the_change_again_after_a_conflict(
    server: FakeServer, client: AsyncClient, clock: FakeClock
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a", "1")), answer(gadget("a", "5", replicas=2)))
    server.on("PUT", f"{GADGETS}/a", answer(status(409, "Conflict"), 409), answer(gadget("a", "6")))

    def count_up(g: v1.Gadget) -> None:
        g.spec.replicas += 1

    await client.of(v1.Gadget).modify("a", count_up)

    assert server.requests[-1].json["spec"]["replicas"] == 3
    assert 0.01 <= clock.slept[-1] <= 0.011


async def test_modify_gives_up_after_five_conflicts(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    server.on("PUT", f"{GADGETS}/a", answer(status(409, "Conflict"), 409))

    with pytest.raises(Conflict):
        await client.of(v1.Gadget).modify("a", lambda g: setattr(g.spec, "replicas", 5))

    assert [request.method for request in server.requests].count("PUT") == 5


async def test_an_unknown_answer_of_success_is_a_decode_error(
    server: FakeServer, client: AsyncClient
) -> None:
    server.on("GET", f"{GADGETS}/a", Answer(body=b"<html>", content_type="text/html"))

    with pytest.raises(ValueError, match="expected value"):
        await client.of(v1.Gadget).get("a")
