"""Documents that try to cost the server more than they cost their sender."""

import time
from typing import Any

import pytest

from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS
from tests.pauses import measures_time

OWNER = {"apiVersion": "v1", "kind": "ConfigMap"}
SECONDS = 5.0
"""Far above what a request takes, and far below what a quadratic step would."""


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("path", [CONFIG_MAPS, GADGETS])
@pytest.mark.parametrize("metadata", ["{}", '{"name": "x"}'])
async def test_a_number_that_is_not_json_is_a_bad_request(
    client: Driver, path: str, metadata: str, value: str
) -> None:
    """Also in an unknown field, and where other fields are missing."""
    body = f'{{"metadata": {metadata}, "x": {value}}}'.encode()

    answer = await client.send("POST", path, body=body)

    assert (answer.code, answer.json["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize("value", ["1e400", "1" + 400 * "0", str(2**64)])
@pytest.mark.parametrize("path", [CONFIG_MAPS, GADGETS, GADGETS.replace("/v1/", "/v1beta1/")])
@pytest.mark.parametrize("metadata", ['{"name": "x"}', '{"generation": %s}', '{"x": %s}'])
async def test_no_number_is_too_large_for_an_answer(
    client: Driver, path: str, metadata: str, value: str
) -> None:
    given = metadata.replace("%s", value)
    body = f'{{"metadata": {given}, "x": {value}, "spec": {{"model": ""}}}}'.encode()

    answer = await client.send("POST", path, body=body)

    assert answer.code in (201, 400, 422)


@measures_time
async def test_many_owners_are_compared_in_linear_time(client: Driver) -> None:
    owners = [{**OWNER, "name": f"n{i % 7000}", "uid": f"u{i % 7000}"} for i in range(8000)]
    started = time.thread_time()

    answer = await client.post(
        f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "x", "ownerReferences": owners}}
    )

    assert answer.code == 201
    assert len(answer.json["metadata"]["ownerReferences"]) == 7000
    assert len(answer.all("warning")) == 1
    assert time.thread_time() - started < SECONDS


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"name": "x"}, "data": {f"?{i}": "" for i in range(50_000)}},
        {"metadata": {"name": "x", "labels": {f"?{i}": "?" for i in range(50_000)}}},
        {
            "metadata": {
                "name": "x",
                "ownerReferences": [
                    {**OWNER, "name": "n", "uid": str(i), "controller": True} for i in range(12_000)
                ],
            }
        },
    ],
    ids=["keys", "labels", "owners"],
)
async def test_the_causes_of_an_invalid_object_are_limited(client: Driver, body: Any) -> None:
    answer = await client.post(CONFIG_MAPS, body)

    causes = answer.json["details"]["causes"]
    assert answer.code == 422
    assert 1 < len(causes) <= 101  # a repeated error is one cause
    assert causes[-1] == {"message": "too many errors, the list is truncated"}
    assert answer.json["message"].endswith(": too many errors, the list is truncated")
    assert len(answer.body) < 2_000_000


async def test_a_message_does_not_repeat_a_long_value(client: Driver) -> None:
    answer = await client.post(CONFIG_MAPS, {"metadata": {"name": "?" * 1_000_000}})

    assert answer.code == 422
    assert answer.json["details"]["name"].endswith("?...")
    assert len(answer.body) < 50_000
