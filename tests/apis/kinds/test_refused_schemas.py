"""Definitions with a schema that Kubernetes refuses, each with the causes that it gives."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from apimachinery.protobuf import ProtobufCodec
from apis.apiextensions.v1 import CustomResourceDefinition
from tests.apis.kinds.kind_server import APPLY, KindServer
from tests.apis.kinds.test_answers import DEFINITIONS, definition
from tests.apis.validating import decoded
from tests.apiserver.http.driver import Answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "refused_schemas.yaml").read_bytes()
)
PLACE = "spec.validation.openAPIV3Schema.properties[a]"
ARRAY = {"type": "array", "items": [{"type": "string"}]}
REFUSED = f"{PLACE}.items: Forbidden: items must be a schema object and not an array"
PROTOBUF = "application/vnd.kubernetes.protobuf"


def having(part: Any) -> dict[str, Any]:
    return definition("refused.io", {"type": "object", "properties": {"a": part}})


def causes(answer: Answer) -> list[str]:
    assert (answer.code, answer.json["reason"]) == (422, "Invalid"), answer.json
    return [f"{cause['field']}: {cause['message']}" for cause in answer.json["details"]["causes"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: orjson.dumps(case["schema"]).decode())
async def test_the_causes_are_those_of_kubernetes(kinds: KindServer, case: Any) -> None:
    answer = await kinds.driver.post(f"{DEFINITIONS}?dryRun=All", having(case["schema"]))

    expected = [text if text.startswith("spec") else PLACE + text for text in case["causes"]]
    if expected:
        assert sorted(causes(answer)) == sorted(expected)
    else:
        assert answer.code == 201, answer.json


async def test_an_array_of_item_schemas_is_refused_by_every_write(kinds: KindServer) -> None:
    await kinds.create(having({"type": "string"}))
    path = f"{DEFINITIONS}/foos.refused.io"
    stored = (await kinds.driver.get(path)).json
    stored["spec"]["versions"][0]["schema"] = having(ARRAY)["spec"]["versions"][0]["schema"]
    versions = {"spec": {"versions": stored["spec"]["versions"]}}

    put = await kinds.driver.put(path, stored)
    patched = await kinds.driver.patch(path, versions)
    body = orjson.dumps(having(ARRAY))
    applied = await kinds.driver.send(
        "PATCH", f"{path}?fieldManager=m&force=true", body=body, headers=APPLY
    )

    assert [causes(answer) for answer in (put, patched, applied)] == [[REFUSED]] * 3


async def test_an_array_of_item_schemas_in_protobuf_is_refused(kinds: KindServer) -> None:
    """JSONSchemaPropsOrArray has a field for a schema and one for the array."""
    single = decoded(CustomResourceDefinition, having({"type": "array", "items": {"type": "X"}}))
    kind = {"api_version": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    data = ProtobufCodec().encode(single, **kind)
    items, schema, schemas = rb"\xc2\x01.", b"\x0a", b"\x12"
    sent, count = re.subn(b"(%b)%b" % (items, schema), rb"\1" + schemas, data)
    assert count == 1

    answer = await kinds.driver.send(
        "POST",
        DEFINITIONS,
        body=sent,
        headers={"content-type": PROTOBUF},
    )

    assert causes(answer)[0] == REFUSED
