"""Every kind has a minimal and a full manifest, which apply, read back, and are printed."""

from typing import Any
from urllib.parse import quote

import orjson
import pytest
import yaml

from apimachinery.model.class_fields import fields_of
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from apiserver.group import selectable_of
from tests.apis.kinds.kind_files import (
    FOLDER,
    Manifest,
    facts,
    group_folder,
    manifests,
    stored_resources,
)
from tests.apis.kinds.kind_server import KindServer, is_expected, missing, without_managed

pytestmark = pytest.mark.asyncio(loop_scope="session")

MINIMAL, FULL = manifests("minimal"), manifests("full")
every_manifest = pytest.mark.parametrize("manifest", MINIMAL + FULL, ids=lambda each: each.name)


@pytest.mark.parametrize(
    "name", [f"{group_folder(group.name)}/{r.kind}" for group, r in stored_resources()]
)
async def test_every_kind_has_its_files(name: str) -> None:
    forms = [f"manifests/{name}.{form}.yaml" for form in ("minimal", "defaulted", "full")]

    assert [path for path in (*forms, f"invalid/{name}.yaml") if not (FOLDER / path).exists()] == []


@pytest.mark.parametrize("manifest", MINIMAL, ids=lambda each: each.name)
async def test_a_minimal_manifest_gets_its_defaults(kinds: KindServer, manifest: Manifest) -> None:
    found = without_managed(await kinds.applied(manifest))

    assert is_expected(manifest.defaulted, found), yaml.safe_dump(found)


@pytest.mark.parametrize("manifest", FULL, ids=lambda each: each.name)
async def test_a_full_manifest_is_kept(kinds: KindServer, manifest: Manifest) -> None:
    assert missing(dict(manifest.document), await kinds.applied(manifest)) == []


@every_manifest
async def test_applying_again_changes_nothing(kinds: KindServer, manifest: Manifest) -> None:
    before = await kinds.applied(manifest)
    if "managedFields" not in before["metadata"]:
        # Who applies a name alone owns nothing. The next one notes, as Kubernetes does, what was
        # there before it.
        before = await kinds.apply(manifest.document)

    after = await kinds.apply(manifest.document)

    assert after == before


@every_manifest
async def test_json_yaml_and_protobuf_say_the_same(kinds: KindServer, manifest: Manifest) -> None:
    await kinds.applied(manifest)
    codec = kinds.endpoint(manifest.document).codec

    text, indented, binary = [
        (await kinds.read(manifest.document, accept)).body for accept in (JSON, YAML, PROTOBUF)
    ]

    assert yaml.safe_load(indented) == orjson.loads(text)
    from_text, from_binary = codec.decode(text), codec.decode(binary, media_type=PROTOBUF)
    version = from_text.kind.group_version
    for media_type in (JSON, PROTOBUF):
        encoded = codec.encode(from_text.object, version, media_type=media_type)
        assert codec.encode(from_binary.object, version, media_type=media_type) == encoded
    assert orjson.loads(codec.encode(from_text.object, version)) == orjson.loads(text)


@every_manifest
async def test_an_update_with_what_was_read_changes_nothing(
    kinds: KindServer, manifest: Manifest
) -> None:
    before = await kinds.applied(manifest)
    path = kinds.path(manifest.document)

    for media_type in (JSON, YAML, PROTOBUF):
        body = (await kinds.read(manifest.document, media_type)).body
        sent = {"content-type": media_type, "accept": JSON}
        after = await kinds.driver.send("PUT", f"{path}?dryRun=All", body=body, headers=sent)

        assert (after.code, after.json) == (200, before)


@every_manifest
async def test_it_is_printed_in_the_columns_of_kubernetes(
    kinds: KindServer, manifest: Manifest
) -> None:
    await kinds.applied(manifest)
    endpoint = kinds.endpoint(manifest.document)
    columns = facts()[endpoint.version.group]["resources"][endpoint.resource.name]["columns"]

    table = await kinds.table(kinds.path(manifest.document))

    shown = [
        column["name"]
        + ("" if column["type"] == "string" else f":{column['type']}")
        + ("*" if column["priority"] else "")
        for column in table["columnDefinitions"]
    ]
    assert shown == columns.split(", ")
    (row,) = table["rows"]
    assert len(row["cells"]) == len(shown)
    assert None not in row["cells"]


@every_manifest
async def test_it_is_selected_by_its_fields(kinds: KindServer, manifest: Manifest) -> None:
    document = await kinds.applied(manifest)
    endpoint = kinds.endpoint(manifest.document)
    declared = facts()[endpoint.version.group]["resources"][endpoint.resource.name]
    names = ["metadata.name", *declared.get("fields", "").split()]
    own = endpoint.resource.stored_as is None
    if own:
        assert sorted(selectable_of(endpoint.resource)) == sorted(names[1:])

    for name in names:
        path = selectable_of(endpoint.resource).get(name, name)
        value = value_at(document, path) if own else ""
        if value is None:
            value = zero_at(endpoint.resource.cls, path)
        shown = "" if value is None else str(value)
        text = quote(shown.lower() if isinstance(value, bool) else shown, safe="")
        for operator, count in (("=", 1), ("!=", 0)):
            chosen = f"metadata.name={document['metadata']['name']},{name}{operator}{text}"
            path = f"{kinds.collection(document)}?fieldSelector={chosen}"
            listed = await kinds.driver.get(path)
            assert listed.code == 200, listed.body
            assert not own or len(listed.json["items"]) == count, (name, operator, text)


def zero_at(cls: type[Any], path: str) -> Any:
    """Return the default of a field, which documents omit."""
    *outer, last = path.split(".")
    for step in outer:
        cls = next(field.type.python for field in fields_of(cls) if field.wire == step)
    return next(field.default for field in fields_of(cls) if field.wire == last)


def value_at(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document.get(step) if isinstance(document, dict) else None
    return document
