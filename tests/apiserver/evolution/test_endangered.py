"""A first start over a store from before there were shapes."""

from pathlib import Path

import pytest

from tests.apiserver.evolution.releases import GROUP, LAMPS, release, serving_alone


@pytest.mark.parametrize(
    "value",
    [
        b"{",
        b"[]",
        b"{}",
        b'{"kind":"Lamp","apiVersion":"a/b/c","metadata":{}}',
        b'{"kind":"Lamp","apiVersion":"shop.example.io/__internal","metadata":{},',
    ],
)
async def test_values_that_are_no_objects_do_not_hinder_a_start(
    tmp_path: Path, value: bytes
) -> None:
    lamps, store = release({"color": (str, "")}), f"sqlite:///{tmp_path}/store.sqlite"
    async with serving_alone(storage=store) as other:
        await other.app.backend.create(f"/registry/{GROUP}/lamps/default/a", value)

    async with serving_alone(lamps, storage=store) as api:
        (item,) = (await api("GET", LAMPS)).items
        assert item["metadata"]["name"] == "a"
