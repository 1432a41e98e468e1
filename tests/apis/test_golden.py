"""What is stored today must be readable tomorrow.

`tests/golden` has the shapes in which releases have stored our own kinds. A failure here has found
a migration: declare it, record the new shape with `STORED_FORMS=update`, and explain the change.
`tests/golden/unmarked` has documents from before stored bytes named their shape.
"""

from pathlib import Path

import orjson
import pytest

from apimachinery.codec import dump_json
from apimachinery.evolution.stored_shapes import StoredShapes
from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import differences
from apimachinery.storage_codec import StorageCodec
from apimachinery.testing import assert_stored_forms
from apimachinery.testing.recorded_shapes import read_recorded_shapes
from apiserver import Group
from tests.apis.filled import filled
from tests.apis.groups import GROUPS, full_scheme

FOLDER = Path(__file__).parent.parent / "golden"
UNMARKED = FOLDER / "unmarked"
KINDS: dict[str, type[Object]] = {
    f"{group.name or 'core'}/{resource.kind}": resource.cls
    for group in GROUPS
    for resource in group.resources
    if resource.is_stored and resource.stored_as is None
}


OLDEST = {
    path.relative_to(UNMARKED).with_suffix("").as_posix() for path in UNMARKED.rglob("*.json")
}
"""Kinds that were once stored without their shape; no kind joins them."""


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name or "core")
def test_every_released_shape_is_stored_and_served_as_ever(group: Group) -> None:
    assert_stored_forms(group, FOLDER)


@pytest.mark.parametrize(("name", "cls"), [(name, KINDS[name]) for name in sorted(OLDEST)])
def test_documents_without_a_shape_are_read_as_the_first_shape(
    name: str, cls: type[Object]
) -> None:
    path = UNMARKED / f"{name}.json"
    shapes = read_recorded_shapes(FOLDER / name)
    codec = StorageCodec(full_scheme())
    trees = {shape.fingerprint: shape.tree for shape in shapes}
    codec.know(StoredShapes(trees, first={shapes[0].api_version: shapes[0].fingerprint}))

    stored = codec.read(path.read_bytes())

    assert stored.is_complete
    assert b"$shape" not in path.read_bytes()
    assert list(differences(filled(cls), stored.object)) == []


def test_metadata_is_stored_as_ever() -> None:
    """It is no part of the shapes: all kinds share it."""
    name, cls = "core/ConfigMap", KINDS["core/ConfigMap"]
    stored = orjson.loads((UNMARKED / f"{name}.json").read_bytes())["metadata"]

    assert dump_json(filled(cls).metadata) == orjson.dumps(stored)


def test_every_recorded_kind_is_still_stored() -> None:
    recorded = {path.parent.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*/*.json")}

    assert {name for name in recorded if not name.startswith("unmarked/")} == set(KINDS)
    assert len(OLDEST) == 13
