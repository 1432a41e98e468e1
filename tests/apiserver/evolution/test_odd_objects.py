"""Stored objects that no server of ours has written: each fails itself and nobody else."""

from pathlib import Path

import orjson
import pytest

from apiserver.storage.record_reading import splice_metadata
from tests.apiserver.evolution.releases import GROUP, LAMPS, Api, release, serving

FIELDS = {"color": (str, ""), "watts": (int, 0)}
KEY = f"/registry/{GROUP}/lamps/default/odd"
HEAD = f'{{"kind":"Lamp","apiVersion":"{GROUP}/__internal",'

ODD = {
    "a label that is a number": HEAD + '"metadata":{"name":"odd","labels":{"a":5}},"spec":{}}',
    "labels in a list": HEAD + '"metadata":{"name":"odd","labels":["a"]},"spec":{}}',
    "labels that are a number": HEAD + '"metadata":{"name":"odd","labels":5},"spec":{}}',
    "a name that is a number": HEAD + '"metadata":{"name":5},"spec":{}}',
    "a namespace that is a number": HEAD + '"metadata":{"name":"odd","namespace":5},"spec":{}}',
    "no metadata": HEAD + '"spec":{}}',
    "metadata in a list": HEAD + '"metadata":[],"spec":{}}',
    "no version": '{"kind":"Lamp","apiVersion":"a/b/c","metadata":{"name":"odd"},"spec":{}}',
    "no kind": '{"metadata":{"name":"odd"}}',
    "another kind": HEAD.replace("Lamp", "Tree") + '"metadata":{"name":"odd"},"spec":{}}',
    "a list": "[]",
    "nothing": "",
    "no JSON": HEAD,
    "too deep": HEAD + '"metadata":{"name":"odd"},"spec":' + "[" * 5000 + "]" * 5000 + "}",
}


SHOWN = {"a label that is a number", "a name that is a number", "no version", "no kind", "no JSON"}
"""What every run tests; the others are alike."""


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(value, id=name, marks=() if name in SHOWN else pytest.mark.torture)
        for name, value in ODD.items()
    ],
)
async def test_one_odd_object_hinders_nobody(tmp_path: Path, value: str) -> None:
    storage = f"sqlite:///{tmp_path}/store.sqlite"
    async with serving(release(FIELDS), storage=storage) as api:
        await api.create("good", color="red")
        await api.app.backend.create(KEY, value.encode())
        await assert_served(api)
    # Again from the store, as the first list of the cache reads it.
    async with serving(release(FIELDS), storage=storage) as api:
        await assert_served(api)
        answer = await api("GET", "/readyz")
        assert answer.body == b"ok"
        assert (await api("DELETE", f"{LAMPS}/good")).code == 200
        option = {"ignoreStoreReadErrorWithClusterBreakingPotential": "true"}
        deleted = await api("DELETE", f"{LAMPS}/odd")
        if deleted.code != 200:
            deleted = await api("DELETE", f"{LAMPS}/odd", query=option)
        assert deleted.code == 200, deleted.body
        assert (await api("GET", LAMPS)).items == []


async def assert_served(api: Api) -> None:
    for form in (
        "",
        ";as=Table;v=v1;g=meta.k8s.io",
        ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    ):
        listed = await api("GET", LAMPS, accept=f"application/json{form}")
        assert listed.code == 200, listed.body
        assert len(listed.json.get("items") or listed.json["rows"]) == 2
        assert listed.warnings
    odd = await api.get("odd")
    assert (odd["metadata"]["name"], odd["metadata"]["namespace"]) == ("odd", "default")
    selected = await api("GET", LAMPS, query={"labelSelector": "a=5"})
    assert selected.items == []


def test_only_the_metadata_of_the_object_itself_is_replaced() -> None:
    """Another program may write the fields in any order."""
    stored = b'{"spec":{"template":{"metadata":{"name":"inner"}}},"metadata":{"name":"a","new":1}}'
    metadata = (
        release(FIELDS)
        .resources[0]
        .cls.model_fields["metadata"]
        .get_default(call_default_factory=True)
    )
    metadata.name = "b"

    spliced = orjson.loads(splice_metadata(stored, metadata))

    assert spliced == {
        "spec": {"template": {"metadata": {"name": "inner"}}},
        "metadata": {"name": "b", "new": 1},
    }


async def test_older_code_does_not_write_what_it_reads_otherwise(tmp_path: Path) -> None:
    """A value that newer code omits has another meaning for older code."""
    storage = f"sqlite:///{tmp_path}/store.sqlite"
    first = release({"color": (str, "red"), "watts": (int, 0)})
    second = release(
        {"tint": (str, ""), "watts": (int, 0)},
        lambda scheme, cls: scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"}),
    )
    async with serving(first, storage=storage) as api:
        await api.create("a", color="blue")
    async with serving(second, storage=storage) as api:
        await api.create("b")
    async with serving(first, storage=storage) as api:
        refused = await api.patch("b", {"spec": {"watts": 5}})
        assert (refused.code, refused.retry_after) == (503, "1")
        assert (await api.patch("b", {"metadata": {"labels": {"x": "y"}}})).code == 200
    async with serving(second, storage=storage) as api:
        assert (await api.get("b"))["spec"] == {}
        assert (await api.get("b"))["metadata"]["labels"] == {"x": "y"}
