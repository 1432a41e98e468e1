"""Definitions for tests, and how to have them served."""

from typing import Any

from tests.apiserver.http.driver import Driver

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.io/v1/namespaces/default/widgets"
SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def schema(**properties: Any) -> dict[str, Any]:
    """A schema with these properties in its spec, beside a few that nearly all tests use."""
    return {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "color": {"type": "string"},
                    "replicas": {"type": "integer"},
                    **properties,
                },
            },
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        },
    }


def version(name: str = "v1", *, storage: bool = True, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema()},
        **fields,
    }


def having(open_schema: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The version with this schema."""
    return version(schema={"openAPIV3Schema": open_schema}, **fields)


def definition(*versions: dict[str, Any], plural: str = "widgets", **spec: Any) -> dict[str, Any]:
    kind = plural.removesuffix("s").capitalize()
    names = {"plural": plural, "kind": kind, **spec.pop("names", {})}
    group = spec.pop("group", "example.io")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": list(versions) or [version()],
            **spec,
        },
    }


def widget(name: str = "lamp", *, api: str = "v1", **parts: Any) -> dict[str, Any]:
    meta = {"name": name, **parts.pop("metadata", {})}
    return {"apiVersion": f"example.io/{api}", "kind": "Widget", "metadata": meta, **parts}


class Defined:
    """Defines resources and waits until they are served."""

    def __init__(self, client: Driver) -> None:
        self.client = client

    async def __call__(self, *versions: dict[str, Any], **spec: Any) -> dict[str, Any]:
        """Define widgets, or whatever *spec* says; returns the definition as it is then."""
        body = definition(*versions, **spec)
        answer = await self.client.post(DEFINITIONS, body)
        assert answer.code == 201, answer.json
        return await self.until(body["metadata"]["name"], "Established")

    async def change(self, name: str, *versions: dict[str, Any]) -> dict[str, Any]:
        """Give a definition other versions, and see to it that they are served."""
        answer = await self.client.patch(
            f"{DEFINITIONS}/{name}", {"spec": {"versions": list(versions)}}
        )
        assert answer.code == 200, answer.json
        # Discovery shows the newest state, so whatever is asked after it is answered by that.
        assert (await self.client.get("/apis")).code == 200
        changed: dict[str, Any] = answer.json
        return changed

    async def until(self, name: str, condition: str) -> dict[str, Any]:
        """The definition once a condition is true; what it was waited for is on the watch."""
        url = f"{DEFINITIONS}?watch=1&fieldSelector=metadata.name={name}"
        async with self.client.stream(url) as stream:
            while True:
                event = await stream.event()
                conditions = event["object"]["status"]["conditions"] or ()
                if any(c["type"] == condition and c["status"] == "True" for c in conditions):
                    found: dict[str, Any] = event["object"]
                    return found

    async def until_gone(self, name: str, *, since: str = "") -> None:
        """Until the definition is gone; it may be by now if a version *since* when is given."""
        selected = f"fieldSelector=metadata.name={name}&resourceVersion={since}"
        url = f"{DEFINITIONS}?watch=1&{selected}"
        async with self.client.stream(url) as stream:
            while (await stream.event())["type"] != "DELETED":
                pass
