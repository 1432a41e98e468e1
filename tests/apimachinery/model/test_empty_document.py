"""The document that a creation starts from: what every object has, and nobody owns."""

from apimachinery import Model, field
from apimachinery.model.document_diff import empty_document


class Part(Model):
    name: str = field("", omit_empty=False)


class Whole(Model):
    part: Part = Part()
    pointer: Part | None = field(None)
    written: list[Part] = field(default_factory=list, omit_empty=False, list_map_keys=("name",))
    omitted: list[Part] = field(default_factory=list, list_map_keys=("name",))
    atomic: list[str] = field(default_factory=list, omit_empty=False, list_type="atomic")
    text: str = field("", omit_empty=False)


def test_structs_and_lists_that_are_written_when_empty_are_in_every_object() -> None:
    assert empty_document(Whole) == {"part": {"name": ""}, "written": [], "text": ""}


class Written(Model):
    text: str = field("", omit_empty=False)
    count: int = field(0, omit_empty=False, required=False)
    unset: int | None = field(None, omit_empty=False)
    replicas: int = field(1)
    omitted: str = field("")
    null: list[str] = field(default_factory=list, null_when_empty=True)


def test_scalars_that_are_always_written_are_empty() -> None:
    assert empty_document(Written) == {"text": "", "count": 0, "null": None}
