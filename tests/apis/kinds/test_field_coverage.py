"""Every field of every kind is set in some manifest, so that the suite looks at it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from apimachinery.meta.types import ListMeta, ObjectMeta, TypeMeta
from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.model import Model
from tests.apis.groups import full_scheme
from tests.apis.kinds.kind_files import FOLDER, manifests, stored_resources

UNSET: Mapping[str, str] = yaml.safe_load((FOLDER / "unset_fields.yaml").read_text()) or {}
"""Class.field -> why no manifest sets it."""
CLASSES: Mapping[tuple[str, str], type[Any]] = {
    (kind.api_version, kind.kind): cls for kind, cls in full_scheme().all_kinds().items()
}


def reached(cls: type[Model], found: set[type[Model]]) -> None:
    """Add *cls* and every class within it to *found*, except metadata, which all kinds share."""
    if cls in found or issubclass(cls, ObjectMeta | ListMeta):
        return
    found.add(cls)
    for field in fields_of(cls):
        if field.type.model is not None:
            reached(field.type.model, found)


def set_fields(cls: type[Model], document: Any) -> Iterator[str]:
    """Yield Class.field for every field that a document sets."""
    for field in fields_of(cls):
        if isinstance(document, dict) and field.wire in document:
            yield f"{cls.__name__}.{field.wire}"
            yield from _within(field.type, document[field.wire])


def _within(kind: TypeInfo, value: Any) -> Iterator[str]:
    if kind.category == "model":
        yield from set_fields(kind.python, value)
    elif kind.item is not None:
        for item in value.values() if isinstance(value, dict) else value or ():
            yield from _within(kind.item, item)


@pytest.fixture(scope="module")
def covered() -> set[str]:
    return {
        name
        for manifest in (*manifests("minimal"), *manifests("full"))
        for name in set_fields(
            CLASSES[manifest.document["apiVersion"], manifest.document["kind"]], manifest.document
        )
    }


@pytest.mark.parametrize(
    "cls", [pytest.param(r.cls, id=f"{group.name}/{r.kind}") for group, r in stored_resources()]
)
def test_every_field_is_in_some_manifest(cls: type[Model], covered: set[str]) -> None:
    classes: set[type[Model]] = set()
    reached(cls, classes)

    names = {
        f"{each.__name__}.{field.wire}"
        for each in classes
        for field in fields_of(each)
        if not (issubclass(each, TypeMeta) and field.name in ("kind", "api_version", "metadata"))
    }
    assert sorted(names - covered - UNSET.keys()) == []


def test_no_field_is_excused_that_is_set(covered: set[str]) -> None:
    assert sorted(UNSET.keys() & covered) == []
    assert list(UNSET) == sorted(UNSET)
