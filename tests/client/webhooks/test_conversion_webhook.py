"""Conversion webhooks: the conversions of the scheme, and the metadata of the server."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.codec import Codec
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.gadgets import types as internal
from apis.gadgets import v1, v1beta1
from client.webhooks.webhooks import Webhooks
from tests.client.webhooks.reviews import (
    GROUP,
    conversion_review,
    gadget,
    gadget_scheme,
    gadget_webhooks,
    review,
)


def converting() -> Webhooks:
    webhooks = gadget_webhooks()
    webhooks.converter(internal.Gadget)
    return webhooks


async def convert(version: str, *objects: Any) -> Any:
    response = await review(converting(), "/convert", conversion_review(version, *objects))
    assert response["result"]["status"] == "Success", response
    return response["convertedObjects"]


async def test_objects_are_converted_in_their_order() -> None:
    objects = [gadget(replicas=number) for number in range(3)]

    converted = await convert("v1beta1", *objects)

    assert [obj["spec"]["count"] for obj in converted] == [0, 1, 2]
    assert {obj["apiVersion"] for obj in converted} == {f"{GROUP}/v1beta1"}


async def test_an_object_in_the_version_already_is_left_alone() -> None:
    lamp = gadget(unknown=3)

    assert await convert("v1", lamp) == [lamp]


async def test_the_metadata_of_the_server_is_left_alone() -> None:
    metadata = {
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
        "unheardOf": 1,
        "labels": {"a": "b"},
    }

    (converted,) = await convert("v1beta1", gadget(metadata=metadata, parts=[{"name": "bulb"}]))

    annotations = converted["metadata"].pop("annotations")
    assert converted["metadata"] == {**gadget()["metadata"], **metadata}
    assert "bulb" in annotations["gadgets.example.io/parts"]


@given(
    replicas=st.integers(0, 100),
    seconds=st.integers(1, 10**6),
    parts=st.lists(st.text(min_size=1, max_size=3), max_size=3, unique=True),
)
async def test_there_and_back_again_is_the_same(
    replicas: int, seconds: int, parts: list[str]
) -> None:
    lamp = gadget(
        replicas=replicas,
        timeoutSeconds=seconds,
        parts=[{"name": name, "size": "1"} for name in parts],
    )

    (back,) = await convert("v1", *await convert("v1beta1", lamp))

    assert back["spec"] == {
        **lamp["spec"],
        "parts": lamp["spec"]["parts"],
    } or (not parts and {**back["spec"], "parts": []} == lamp["spec"])
    assert back["metadata"] == lamp["metadata"]


async def test_values_that_are_refused_today_are_converted() -> None:
    (converted,) = await convert("v1beta1", gadget(replicas=500))

    assert converted["spec"]["count"] == 500


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "Gadget"}, "request.objects[1]: must have a kind and an apiVersion"),
        ({**gadget(), "kind": "Pod"}, "request.objects[1]: gadgets.example.io/v1, Kind=Pod is not"),
        ({**gadget(), "apiVersion": "a/b/c"}, "request.objects[1].apiVersion: "),
        ({**gadget(), "spec": 3}, "request.objects[1]: Gadget default/lamp from gadgets"),
    ],
)
async def test_one_object_that_cannot_be_converted_fails_the_review(
    document: Any, message: str
) -> None:
    body = conversion_review("v1beta1", gadget(), document)

    response = await review(converting(), "/convert", body)

    assert response["convertedObjects"] == []
    assert response["result"]["status"] == "Failure"
    assert response["result"]["message"].startswith(message)


async def test_many_objects_are_converted_at_once() -> None:
    assert len(await convert("v1beta1", *[gadget(replicas=1)] * 1000)) == 1000


async def test_the_conversions_are_those_of_the_scheme() -> None:
    """What a server converts by itself and what the webhook converts for another are equal."""
    scheme, lamp = gadget_scheme(), gadget(replicas=4, parts=[{"name": "bulb", "port": "http"}])
    codec = Codec(scheme)
    stored = codec.decode_internal(orjson.dumps(lamp)).object

    (converted,) = await convert("v1beta1", lamp)

    ours = orjson.loads(codec.encode(stored, GroupVersion(GROUP, "v1beta1")))
    assert converted == ours


def test_what_cannot_be_converted_is_refused_when_it_is_registered() -> None:
    with pytest.raises(ValueError, match="several versions of one kind"):
        gadget_webhooks().converter(v1.Gadget)
    unrelated = Scheme()
    unrelated.add(GroupVersion(GROUP, "v1"), v1.Gadget)
    unrelated.add(GroupVersion(GROUP, "v1beta1"), v1beta1.Gadget)
    with pytest.raises(LookupError, match="unknown conversion"):
        Webhooks(unrelated).converter(v1.Gadget, v1beta1.Gadget)
