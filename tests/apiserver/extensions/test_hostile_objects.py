"""Custom objects that a client sends to break the server: refused with the status of Kubernetes."""

import json
from typing import Any

import pytest

from tests.apiserver.extensions.definitions import WIDGETS, Defined, having, schema, widget
from tests.apiserver.http.driver import Driver

OPEN = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, **OPEN}
HOSTILE = schema(
    level={"type": "integer", "enum": [1, 2]},
    inner={
        **EMBEDDED,
        "x-kubernetes-validations": [
            {"rule": "!has(self.metadata.name) || self.metadata.name != 'x'"}
        ],
    },
    strict={
        "type": "object",
        "required": ["needed"],
        "properties": {"x": {"type": "number"}, "needed": {"type": "string"}},
    },
    open=OPEN,
)


async def test_values_that_no_field_accepts_are_invalid(client: Driver, defined: Defined) -> None:
    await defined(having(HOSTILE))

    body = json.dumps(widget(spec={"level": 2**64})).encode()
    too_large = await client.send("POST", WIDGETS, body=body)
    no_metadata = await client.post(
        WIDGETS, widget(spec={"inner": {"apiVersion": "v1", "kind": "Pod", "metadata": 3}})
    )

    assert (too_large.code, too_large.json["reason"]) == (422, "Invalid")
    assert no_metadata.code == 422
    assert no_metadata.json["message"].endswith(
        "spec.inner.metadata: Invalid value: 3: json: cannot unmarshal number into Go value of type"
        " v1.ObjectMeta"
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1e999"])
@pytest.mark.parametrize("field", ["open", "strict", "unknown"])
async def test_numbers_that_json_does_not_have_are_refused(
    client: Driver, defined: Defined, field: str, value: Any
) -> None:
    await defined(having(HOSTILE))
    body = json.dumps(widget(spec={field: {"x": value}})).replace('"1e999"', "1e999")

    answer = await client.send("POST", WIDGETS, body=body.encode())

    assert answer.code == 400


async def test_defaults_do_not_turn_a_small_request_into_a_huge_object(
    client: Driver, defined: Defined
) -> None:
    text = {"type": "string", "default": "x" * 300_000}
    item = {"type": "object", "properties": {"text": text}}
    await defined(having(schema(items={"type": "array", "items": item})))
    many: list[Any] = [{}] * 1_000

    created = await client.post(WIDGETS, widget(spec={"items": many}))
    await client.post(WIDGETS, widget(spec={"items": []}))
    patched = await client.patch(f"{WIDGETS}/lamp", {"spec": {"items": many}})

    assert (created.code, patched.code) == (413, 413)
    assert created.json["message"] == "Request entity too large: limit is 3145728"
