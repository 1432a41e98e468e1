"""Definitions in real servers: over a restart, and in several workers."""

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
        merge = {"Content-Type": "application/merge-patch+json"}
        server.request("PATCH", f"{DEFINITIONS}/widgets.example.io", body, headers=merge)
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
