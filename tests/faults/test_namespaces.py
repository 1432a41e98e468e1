"""Namespaces that go as soon as they have come, while several workers furnish and empty them."""

import time
from pathlib import Path

from tests.servers import Server, serving

NAMESPACES = 40
_SECONDS = 20.0


def test_a_namespace_that_goes_at_once_leaves_nothing_behind(tmp_path: Path) -> None:
    """One worker may still put something in that another has emptied already."""
    with serving(tmp_path / "server", workers=3) as server:
        for number in range(NAMESPACES):
            name = f"brief-{number}"
            body = {"metadata": {"name": name}}
            assert server.request("POST", "/api/v1/namespaces", body).code == 201
            assert server.request("DELETE", f"/api/v1/namespaces/{name}").code == 200

        for resource in ("namespaces", "serviceaccounts", "configmaps"):
            await_none(server, resource)


def await_none(server: Server, resource: str) -> None:
    """Wait until nothing of the namespaces is left."""
    deadline = time.monotonic() + _SECONDS
    while left := found(server, resource):
        assert time.monotonic() < deadline, f"{resource} do not go: {left}"
        time.sleep(0.02)


def found(server: Server, resource: str) -> list[str]:
    items = server.request("GET", f"/api/v1/{resource}").json["items"]
    places = [item["metadata"].get("namespace", item["metadata"]["name"]) for item in items]
    return [place for place in places if place.startswith("brief-")]
