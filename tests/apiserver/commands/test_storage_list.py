"""`apiserver storage list` of a store with a catalogue of shapes."""

from pathlib import Path

import orjson

from apimachinery.schema import GroupResource
from apiserver.commands.open_store import Progress
from apiserver.commands.storage_list import as_json, as_table, read_contents
from apiserver.evolution.catalogue import read_catalogue
from tests.apiserver.evolution.releases import GROUP, NAME, release, serving_alone


async def test_a_list_says_since_when_a_shape_is_catalogued(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    async with serving_alone(release({"color": (str, "")}), storage=store) as api:
        await api.create("a", color="red")
        contents = await read_contents(api.app.backend, Progress())
        (entry,) = (await read_catalogue(api.app.backend)).of(GroupResource(GROUP, "lamps"))

    (listed,) = orjson.loads(as_json(contents))["resources"]
    assert (listed["resource"], listed["forms"][0]["since"]) == (NAME, entry.since)
    shown = f"__internal {entry.fingerprint} since {entry.since[:10]} (1)"
    assert as_table(contents).splitlines()[1].endswith(shown)
