"""Random definitions with random objects, through every verb: no response is a 5xx."""

import json
import os
import random
from typing import Any

import pytest

from tests.apiserver.extensions.definitions import (
    DEFINITIONS,
    WIDGETS,
    Defined,
    definition,
    having,
    widget,
)
from tests.apiserver.http.driver import Driver

ROUNDS = int(os.environ.get("CUSTOM_FUZZ_ROUNDS", "3"))
OBJECTS = 8
NAMES = ("a", "b-c", "metadata", "kind", "spec", "x.y", "é", "__d__", "in")
RULES = (
    "self == oldSelf",
    "has(self.a) && self.a == self.a",
    "self.all(x, x == x)",
    "self.map(x, x + x).size() >= 0",
    "string(self) != ''",
    "self.metadata.name != 'x'",
    "size(self) < 100",
    "self > 1",
    "self.matches('^a+$')",
    "oldSelf.hasValue() || true",
)
SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**70), 0.0, 1.5, 1e300, -1e-300),
    *("", "a", "aaaa", "é", "\u0000", "2020-01-01T00:00:00Z", "10s", "1Gi", "1.2.3.4", "AAAA"),
)


class Generator:
    """Creates schemas, and values that fit them more or less."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def schema(self, depth: int = 0) -> dict[str, Any]:
        choice = self._random.choice
        kind = choice(("object", "object", "array", "string", "integer", "number", "boolean", ""))
        if depth > 3 and kind in ("object", "array"):
            kind = "string"
        schema: dict[str, Any] = {"type": kind} if kind else {}
        if kind == "object":
            self._complete_object(schema, depth)
        elif kind == "array":
            schema |= {"items": self.schema(depth + 1)}
            schema |= choice(({}, {"maxItems": 5}, {"x-kubernetes-list-type": "set"}))
        elif kind == "string":
            schema |= choice(({}, {"maxLength": 5}, {"pattern": "^a*$"}, {"minLength": 1}))
            schema |= {"format": choice(("", "date-time", "duration", "byte", "ipv4", "int32"))}
        elif kind in ("integer", "number"):
            schema |= choice(({}, {"minimum": 0}, {"maximum": 5, "multipleOf": 0.5}))
        else:
            schema |= {choice(("x-kubernetes-int-or-string", OPEN)): True} if not kind else {}
        self._add_keywords(schema)
        return schema

    def _complete_object(self, schema: dict[str, Any], depth: int) -> None:
        choice = self._random.choice
        if self._random.random() < 0.25:
            schema["additionalProperties"] = self.schema(depth + 1)
        else:
            names = self._random.sample(NAMES, self._random.randrange(4))
            schema["properties"] = {name: self.schema(depth + 1) for name in names}
            schema["required"] = names[:1] if self._random.random() < 0.3 else []
        schema |= choice(({}, {}, {OPEN: True}, {"maxProperties": 3}))
        schema |= choice(({}, {}, {}, {"x-kubernetes-embedded-resource": True, OPEN: True}))

    def _add_keywords(self, schema: dict[str, Any]) -> None:
        chance = self._random.random
        if chance() < 0.2:
            schema["enum"] = self._random.sample(SCALARS[1:], 3)
        if chance() < 0.2:
            schema["default"] = self.value(schema)
        if chance() < 0.2:
            schema["nullable"] = True
        if chance() < 0.3:
            rules = self._random.sample(RULES, 2)
            schema["x-kubernetes-validations"] = [
                {"rule": rule, "messageExpression": "string(self)"} for rule in rules
            ]
        if chance() < 0.15:
            keyword = self._random.choice(("anyOf", "oneOf", "allOf"))
            schema[keyword] = [{"minimum": 1}, {"maxLength": 2}]

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        if depth > 5 or self._random.random() < 0.2:
            return self._anything(depth)
        kind = schema.get("type")
        if kind == "object":
            below = schema.get("additionalProperties")
            parts = schema.get("properties") or dict.fromkeys(NAMES[:2], below or {})
            return {
                name: self.value(part or {}, depth + 1)
                for name, part in parts.items()
                if self._random.random() < 0.8
            }
        if kind == "array":
            count = self._random.randrange(4)
            return [self.value(schema["items"], depth + 1) for _ in range(count)]
        return self._random.choice(SCALARS)

    def _anything(self, depth: int) -> Any:
        match self._random.randrange(6 if depth < 5 else 1):
            case 4:
                return [self._anything(depth + 1) for _ in range(self._random.randrange(3))]
            case 5:
                names = self._random.sample(NAMES, self._random.randrange(3))
                return {name: self._anything(depth + 1) for name in names}
        return self._random.choice(SCALARS)


OPEN = "x-kubernetes-preserve-unknown-fields"


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_random_objects_of_random_definitions(
    client: Driver, defined: Defined, seed: int
) -> None:
    generator = Generator(seed)
    root: dict[str, Any] = {"type": "object", "properties": {"spec": generator.schema()}}
    for _ in range(20):
        body = json.dumps(definition(having(root, subresources={"status": {}}))).encode()
        answer = await client.send("POST", DEFINITIONS, body=body)
        assert answer.code < 500, (seed, root, answer.json)
        if answer.code == 201:
            break
        root = {"type": "object", "properties": {"spec": generator.schema()}}
    else:
        return
    await defined.until("widgets.example.io", "Established")

    for _ in range(OBJECTS):
        value = generator.value(root["properties"]["spec"])
        for method, url, body, media_type in _requests(value):
            answer = await client.send(
                method, url, body=json.dumps(body).encode(), headers={"content-type": media_type}
            )
            assert answer.code < 500, (seed, root, method, body, answer.json)
        assert (await client.get(f"{WIDGETS}/lamp")).code in (200, 404)


def _requests(value: Any) -> list[tuple[str, str, Any, str]]:
    lamp = f"{WIDGETS}/lamp"
    whole = widget(spec=value)
    return [
        ("POST", WIDGETS, whole, "application/json"),
        ("PUT", lamp, whole, "application/json"),
        ("PATCH", lamp, {"spec": value}, "application/merge-patch+json"),
        (
            "PATCH",
            lamp,
            [{"op": "add", "path": "/spec", "value": value}],
            "application/json-patch+json",
        ),
        ("PATCH", f"{lamp}?fieldManager=me&force=true", whole, "application/apply-patch+yaml"),
        ("PUT", f"{lamp}/status", whole, "application/json"),
    ]
