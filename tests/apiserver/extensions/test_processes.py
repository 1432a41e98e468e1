"""Definitions in real servers: over a restart, and in several workers."""

import json
from pathlib import Path
from typing import Any

from tests.apiserver.extensions.definitions import (
    DEFINITIONS,
    WIDGETS,
    definition,
    having,
    schema,
    widget,
)
from tests.servers import Server, serving

WORKERS = 2
MERGE = {"Content-Type": "application/merge-patch+json"}


def established(server: Server, name: str) -> bool:
    conditions = server.request("GET", f"{DEFINITIONS}/{name}").json["status"]["conditions"]
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions or ())


def define(server: Server, body: dict[str, Any]) -> None:
    assert server.request("POST", DEFINITIONS, body).code == 201
    while not established(server, body["metadata"]["name"]):
        pass


def test_what_was_defined_is_served_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path, groups=()) as server:
        define(server, definition())
        made = server.request("POST", WIDGETS, widget(spec={"color": "red"}))
        server.stop()
        server.start()

        read = server.request("GET", f"{WIDGETS}/lamp")

        assert made.code == 201
        assert read.json == made.json


def test_every_worker_serves_what_was_defined_through_another(tmp_path: Path) -> None:
    with serving(tmp_path, groups=(), workers=WORKERS) as server:
        define(server, definition())
        # Each request may be answered by another worker than the definition was written through.
        made = [server.request("POST", WIDGETS, widget(f"w{n}")).code for n in range(10)]
        body = {"spec": {"versions": [having(schema(size={"type": "integer", "default": 3}))]}}
        server.request("PATCH", f"{DEFINITIONS}/widgets.example.io", body, headers=MERGE)
        seen = [server.request("GET", "/apis/example.io/v1").code for _ in range(10)]
        sized = [server.request("POST", WIDGETS, widget(f"s{n}", spec={})).json for n in range(10)]
        server.request("DELETE", f"{DEFINITIONS}/widgets.example.io")
        while server.request("GET", f"{DEFINITIONS}/widgets.example.io").code != 404:
            pass
        gone = [server.request("GET", WIDGETS).code for _ in range(10)]

        assert made == [201] * 10
        assert seen == [200] * 10
        # Both workers have been asked for discovery by now, and know the new schema by it.
        assert [found["spec"] for found in sized] == [{"size": 3}] * 10
        assert gone == [404] * 10
        assert "Traceback" not in server.log


def test_watches_resume_in_every_worker_after_changes_of_the_schema(tmp_path: Path) -> None:
    with serving(tmp_path, groups=(), workers=WORKERS) as server:
        define(server, definition())
        first = server.request("POST", WIDGETS, widget("first")).json
        for number in range(3):
            server.request("POST", WIDGETS, widget(f"w{number}"))
            body = {"spec": {"versions": [having(schema(**{f"s{number}": {"type": "string"}}))]}}
            server.request("PATCH", f"{DEFINITIONS}/widgets.example.io", body, headers=MERGE)
        for _ in range(10):  # until every worker serves the last schema
            server.request("GET", "/apis")
        since = f"resourceVersion={first['metadata']['resourceVersion']}&timeoutSeconds=1"

        answers = [server.request("GET", f"{WIDGETS}?watch=1&{since}") for _ in range(4)]

        for answer in answers:
            events = [json.loads(line) for line in answer.body.splitlines()]
            seen = [(event["type"], event["object"]["metadata"]["name"]) for event in events]
            assert seen == [("ADDED", "w0"), ("ADDED", "w1"), ("ADDED", "w2")]
