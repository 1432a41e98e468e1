"""A project that releases lamps, and what the check of its stored forms says to each change."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from apimachinery.evolution.field_tree import field_tree
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apimachinery.testing import assert_stored_forms
from apiserver import Group, Resource
from tests.apimachinery.evolution.lamps import GROUP, V1, lamp, list_of, model, scheme_of

V2 = GroupVersion(GROUP, "v2")
FIRST: dict[str, Any] = {
    "color": (str, ""),
    "watts": (int, 1),
    "parts": (list_of(model(size=(int, 0))), []),
}


def release(fields: dict[str, Any], **upgrade: Any) -> Scheme:
    return scheme_of(lamp(**fields), **upgrade)


def record(scheme: Scheme, folder: Path) -> Path:
    """Record the shape of a release; return its file."""
    before = set(folder.rglob("*.json"))
    assert_stored_forms(scheme, folder, update=True)
    (file,) = set(folder.rglob("*.json")) - before
    return file


def message(group: Any, folder: Path, **options: Any) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_stored_forms(group, folder, **options)
    return str(failed.value)


def test_a_shape_is_recorded_with_its_documents(tmp_path: Path) -> None:
    scheme = release(FIRST)

    file = record(scheme, tmp_path)

    fingerprint = field_tree(lamp(**FIRST)).fingerprint
    assert file == tmp_path / GROUP / "Lamp" / f"{fingerprint}.json"
    content = orjson.loads(file.read_bytes())
    assert content["apiVersion"] == f"{GROUP}/__internal"
    assert content["generation"] == 1
    documents = content["documents"]
    assert documents["complete"]["spec"] == {"color": "color", "watts": 3, "parts": [{"size": 3}]}
    assert documents["minimal"]["spec"] == {"watts": 1}
    assert documents["complete"]["$shape"] == fingerprint
    assert content["tree"] == field_tree(lamp(**FIRST)).to_json()
    assert_stored_forms(scheme, tmp_path)


def test_the_environment_asks_for_an_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORED_FORMS", "update")
    assert_stored_forms(release(FIRST), tmp_path)
    monkeypatch.setenv("STORED_FORMS", "")
    assert_stored_forms(release(FIRST), tmp_path)


def test_a_kind_without_a_recorded_shape_fails(tmp_path: Path) -> None:
    text = message(release(FIRST), tmp_path)

    assert f"Lamp: its stored shape {field_tree(lamp(**FIRST)).fingerprint} is not rec" in text
    assert "STORED_FORMS=update" in text


def test_a_new_shape_is_described_and_recorded_beside_the_old_one(tmp_path: Path) -> None:
    first = record(release(FIRST), tmp_path)
    before = first.read_bytes()
    changed = release({**FIRST, "watts": (int, 60), "socket": (str, "E27")})

    text = message(changed, tmp_path)
    second = record(changed, tmp_path)

    assert f"Lamp: its stored shape has changed since {first}:" in text
    assert "  added spec.socket: string" in text
    assert "  altered spec.watts: default 1 -> 60" in text
    assert "add_upgrade" not in text
    assert first.read_bytes() == before
    assert orjson.loads(second.read_bytes())["generation"] == 2
    assert_stored_forms(changed, tmp_path)
    assert_stored_forms(changed, tmp_path, update=True)


def test_a_removed_field_needs_a_declaration(tmp_path: Path) -> None:
    first = record(release(FIRST), tmp_path)
    fields = {"watts": (int, 1), "parts": (list_of(model()), [])}

    before = message(release(fields), tmp_path)
    updated = message(release(fields), tmp_path, update=True)

    for text in (before, updated):
        assert f"Lamp: the document 'complete' in {first} has a value at spec.color" in text
        assert "scheme.add_upgrade(Lamp, renames={'spec.parts.size': ...})" in text
        assert "dropped=('spec.color',)" in text
        assert "'minimal'" not in text
    assert "  removed spec.color: string" in before
    assert "its stored shape has changed" not in updated
    assert_stored_forms(release(fields, dropped=["spec.color", "spec.parts.size"]), tmp_path)


def test_a_renamed_field_with_its_upgrade_passes(tmp_path: Path) -> None:
    record(release(FIRST), tmp_path)
    fields = {"tint": (str, ""), "watts": (int, 1), "parts": FIRST["parts"]}
    renamed = release(fields, renames={"spec.color": "spec.tint"})

    text = message(renamed, tmp_path)
    assert "  removed spec.color: string" in text
    assert "would be lost" not in text

    record(renamed, tmp_path)
    assert_stored_forms(renamed, tmp_path)


def test_a_retyped_field_needs_a_function(tmp_path: Path) -> None:
    first = record(release(FIRST), tmp_path)
    fields = {**FIRST, "watts": (str, "")}

    text = message(release(fields), tmp_path)

    assert "  retyped spec.watts: integer -> string" in text
    assert f"Lamp: the document 'minimal' in {first} cannot be read: spec.watts: " in text
    assert "scheme.add_upgrade(Lamp, retyped={'spec.watts': function})" in text
    record(release(fields, retyped={"spec.watts": str}), tmp_path)


def test_a_function_is_not_called_for_documents_that_have_its_result(tmp_path: Path) -> None:
    """It has no annotations, and the type has changed once more since."""
    record(release({"size": (str, "")}), tmp_path)
    record(release({"size": (int, 0)}, retyped={"spec.size": len}), tmp_path)

    last = release({"size": (float, 0.0)}, retyped={"spec.size": len})

    file = record(last, tmp_path)
    assert orjson.loads(file.read_bytes())["steps"] == ["change the type of spec.size"]


def test_an_upgrade_that_fails_or_cannot_be_carried_out_is_named(tmp_path: Path) -> None:
    def fail(value: int) -> str:
        raise RuntimeError("out of order")

    record(release(FIRST), tmp_path)
    failing = release({**FIRST, "watts": (str, "")}, retyped={"spec.watts": fail})
    assert "upgrading it failed: RuntimeError('out of order')" in message(
        failing, tmp_path, update=True
    )
    impossible = release(
        {"color": (str, ""), "watts": (int, 1), "size": (int, 0)},
        renames={"spec.parts.size": "spec.size"},
    )
    text = message(impossible, tmp_path)
    assert "cannot be read: rename spec.parts.size to spec.size: it moves from the elem" in text


def test_documents_of_today_s_shape_must_be_stored_as_they_were(tmp_path: Path) -> None:
    scheme = release(FIRST)
    file = record(scheme, tmp_path)
    file.write_text(
        file.read_text().replace('"color": "color",', '"parts": [], "color": "color",', 1)
    )

    text = message(scheme, tmp_path)

    assert f"the document 'complete' in {file} is of today's shape, but would be stored as" in text


def test_documents_may_be_added_to_a_file(tmp_path: Path) -> None:
    file = record(release(FIRST), tmp_path)
    content = orjson.loads(file.read_bytes())
    more = orjson.loads(orjson.dumps(content["documents"]["complete"]))
    more["spec"]["color"] = "a particular one"
    content["documents"]["particular"] = more
    file.write_bytes(orjson.dumps(content))

    assert_stored_forms(release(FIRST), tmp_path)

    narrower = release({"watts": (int, 1), "parts": FIRST["parts"]})
    assert "'particular'" in message(narrower, tmp_path)


class Stable(Object, kind="Lamp"):
    color: str = ""


class Newer(Object, kind="Lamp"):
    tint: str = ""


def test_a_document_that_cannot_be_served_in_a_version_is_named(tmp_path: Path) -> None:
    def to_newer(source: Stable) -> Newer:
        if source.color:
            raise RuntimeError("out of order")
        return Newer(metadata=source.metadata)

    def to_stable(source: Newer) -> Stable:
        return Stable(metadata=source.metadata, color=source.tint)

    def add_to_scheme(scheme: Scheme) -> None:
        scheme.add(V1, Stable, internal=True)
        scheme.add(V2, Newer)
        scheme.add_conversion(to_newer, to_stable)

    text = message(add_to_scheme, tmp_path, update=True)

    assert text.startswith("Lamp: the document 'complete' in ")
    assert text.endswith(f"cannot be served in {V2}: RuntimeError('out of order')")


def group(cls: type[Object], **options: Any) -> Group:
    return Group(
        name=GROUP,
        versions=("v1",),
        add_to_scheme=lambda scheme: scheme.add(V1, cls, internal=True),
        resources=(Resource("lamps", cls),),
        **options,
    )


def test_a_group_is_stored_in_its_storage_version(tmp_path: Path) -> None:
    """With the same fields as before, so that only the version tells the files apart."""
    cls = lamp(**FIRST)
    assert_stored_forms(group(cls), tmp_path, update=True)
    versioned = group(cls, storage_version="v1")

    assert "is not recorded" in message(versioned, tmp_path)
    assert_stored_forms(versioned, tmp_path, update=True)

    fingerprint = field_tree(cls).fingerprint
    files = {path.name: orjson.loads(path.read_bytes()) for path in tmp_path.rglob("*.json")}
    assert set(files) == {f"{fingerprint}.json", f"{fingerprint}-v1.json"}
    assert files[f"{fingerprint}-v1.json"]["documents"]["minimal"]["apiVersion"] == str(V1)
    assert_stored_forms(versioned, tmp_path)


def test_resources_that_are_not_stored_are_left_out(tmp_path: Path) -> None:
    async def answer(context: Any, review: Any) -> Any: ...

    cls = lamp(**FIRST)
    reviews = Group(
        name=GROUP,
        versions=("v1",),
        add_to_scheme=lambda scheme: scheme.add(V1, cls, internal=True),
        resources=(Resource("lamps", cls, answer=answer),),
    )

    assert_stored_forms(reviews, tmp_path)


def test_a_recorded_kind_that_is_gone_is_named(tmp_path: Path) -> None:
    record(release(FIRST), tmp_path)
    other = lamp(**FIRST)
    other.__kind__ = "Torch"

    text = message(scheme_of(other), tmp_path, update=True)

    assert text.startswith("Lamp: objects of this kind were stored")


def test_a_file_of_something_else_is_an_error(tmp_path: Path) -> None:
    file = record(release(FIRST), tmp_path)
    file.write_text("{}")

    with pytest.raises(ValueError, match="is not a recorded shape"):
        assert_stored_forms(release(FIRST), tmp_path)
