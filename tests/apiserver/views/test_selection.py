"""Selectors of a request as the cache understands them."""

import pytest

from apimachinery.errors import BadRequest
from apimachinery.meta import options
from apimachinery.scheme import Scheme
from apimachinery.selectors import field_selector as fields
from apimachinery.selectors import label_selector as labels
from apiserver.storage.cache.entry import EntrySelection
from apiserver.views.selection import select
from tests.apiserver.registry.world import NOTES_V1, World, add_notes, note, put


def chosen(
    *, label: str = "", field: str = "", namespace: str | None = None, name: str | None = None
) -> EntrySelection:
    scheme = Scheme()
    add_notes(scheme)
    selectors = options.ObjectSelector(labels.parse(label), fields.parse(field))
    kind = NOTES_V1.with_kind("Note")
    return select(scheme, kind, selectors, namespace=namespace, name=name)


def test_nothing_said_is_everything() -> None:
    assert chosen() == EntrySelection()


def test_a_name_is_looked_up_by_key() -> None:
    found = chosen(field="metadata.name=a", namespace="default")

    assert found == EntrySelection(namespace="default", name="a")
    assert not found.selective


def test_a_namespace_is_looked_up_by_key() -> None:
    assert chosen(field="metadata.namespace=x") == EntrySelection(namespace="x")


def test_what_is_not_in_the_key_is_left_to_match() -> None:
    found = chosen(field="metadata.name=a,spec.text=hello")

    assert found.name == "a"
    assert found.fields is not None
    assert found.fields({"spec.text": "hello"})
    assert not found.fields({"spec.text": "x"})


@pytest.mark.parametrize(
    "field", ["metadata.namespace=other", "metadata.name!=a", "metadata.name=", "metadata.name=a/b"]
)
def test_what_no_key_can_tell_is_matched(field: str) -> None:
    found = chosen(field=field, namespace="default")

    assert (found.namespace, found.name) == ("default", None)
    assert found.fields is not None


def test_names_that_contradict_each_other_match_nothing() -> None:
    found = chosen(field="metadata.name=a,metadata.name=b")

    assert found.fields is not None
    assert not found.fields({"metadata.name": found.name or ""})


def test_a_field_nobody_knows_is_refused() -> None:
    with pytest.raises(BadRequest) as caught:
        chosen(field="spec.x=1")

    assert str(caught.value) == "field label not supported: spec.x"


async def test_objects_are_found_by_what_was_selected(here: World) -> None:
    await put(
        here,
        note("a", text="x", labels={"app": "1"}),
        note("b", text="y", labels={"app": "1"}),
        note("a", text="y", namespace="other"),
    )

    async def found(**said: str) -> list[str]:
        page = await here.notes.list(chosen(**said))
        return [entry.record.key.split("notes/")[1] for entry in page.entries]

    assert await found(label="app=1") == ["default/a", "default/b"]
    assert await found(field="spec.text=y") == ["default/b", "other/a"]
    assert await found(field="metadata.name=a") == ["default/a", "other/a"]
    assert await found(field="metadata.name=a,metadata.namespace=other") == ["other/a"]
    assert await found(field="spec.text=y", label="app") == ["default/b"]
    assert await found(field="metadata.name=a,spec.text!=x") == ["other/a"]
