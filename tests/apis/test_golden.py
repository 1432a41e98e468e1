"""What is stored today must be readable tomorrow."""

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import differences
from apimachinery.storage_codec import StorageCodec
from tests.apis.filled import filled
from tests.apis.groups import full_scheme
from tests.golden import FOLDER, stored_bytes, stored_kinds

KINDS = stored_kinds()


@pytest.mark.parametrize(("name", "cls"), KINDS.items(), ids=list(KINDS))
def test_objects_are_stored_as_ever(name: str, cls: type[Object]) -> None:
    """If this fails, so will reading what users have stored: see `tests/golden/__init__.py`."""
    assert stored_bytes(cls) == (FOLDER / name).read_bytes()


@pytest.mark.parametrize(("name", "cls"), KINDS.items(), ids=list(KINDS))
def test_what_was_stored_can_be_read(name: str, cls: type[Object]) -> None:
    read = StorageCodec(full_scheme()).decode((FOLDER / name).read_bytes())

    assert list(differences(filled(cls), read)) == []


def test_there_is_a_file_for_every_stored_kind_and_no_other() -> None:
    found = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.json")}

    assert found == set(KINDS)
