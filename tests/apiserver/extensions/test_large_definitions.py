"""Definitions with thousands of properties: other requests are served meanwhile."""

import time
from functools import partial
from typing import Any

import orjson
import pytest

from apimachinery.model.decoding import decode_json
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apimachinery.storage_codec import StorageCodec
from apis.apiextensions.register import add_to_scheme
from apis.apiextensions.v1 import CustomResourceDefinition
from apiserver.workload import without_collection
from tests.apiserver.extensions.definitions import (
    DEFINITIONS,
    WIDGETS,
    Defined,
    definition,
    having,
    schema,
    widget,
)
from tests.apiserver.http.driver import Driver
from tests.pauses import longest_pause, loop_pauses, machine_factor, measures_time

pytestmark = measures_time

LIMIT = 0.05
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def large(count: int) -> dict[str, Any]:
    text = {"type": "string", "maxLength": 10}
    return having(schema(**{f"p{number}": text for number in range(count)}))


async def test_a_large_definition_does_not_hold_up_other_requests(
    client: Driver, defined: Defined
) -> None:
    await defined(plural="gears", group="warm.io")
    answers = {}

    async with loop_pauses(time.thread_time) as pauses:
        await defined(large(6_000))
        answers["create"] = await client.post(WIDGETS, widget(spec={"p1": "a"}))
        answers["table"] = await client.get(DEFINITIONS, accept=TABLE)
        answers["v2"] = await client.get("/openapi/v2")
        answers["v2 protobuf"] = await client.get("/openapi/v2", accept=PROTOBUF)
        answers["v3"] = await client.get("/openapi/v3/apis/example.io/v1")
        longest = pauses.longest

    assert [answer.code for answer in answers.values()] == [201, 200, 200, 200, 200]
    assert longest < LIMIT * machine_factor()


@pytest.mark.parametrize("stored", [False, True])
def test_decoding_a_large_definition_lets_other_threads_run(stored: bool) -> None:
    data = orjson.dumps(definition(large(10_000)))
    small = orjson.dumps(definition())
    scheme = Scheme("test")
    add_to_scheme(scheme)
    codec = StorageCodec(scheme, GroupVersion("apiextensions.k8s.io", "v1"))

    def decode(document: bytes) -> object:
        if stored:
            return codec.read(document)
        return decode_json(CustomResourceDefinition, document).object

    decode(small)

    pause = longest_pause(without_collection, partial(decode, data), limit=LIMIT)

    assert pause < LIMIT * machine_factor()
