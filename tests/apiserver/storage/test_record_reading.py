"""The metadata of stored bytes is read and replaced, whatever the rest is."""

import pytest

from apimachinery.meta.types import ObjectMeta
from apiserver.storage.record_reading import replace_metadata, splice_metadata, stored_metadata

HEAD = b'{"kind":"Widget","apiVersion":"example.io/v1","$shape":"abc123","metadata":'
REST = b', "spec" : {"size":1.50,"metadata":{"name":"inner"}},broken'


def test_the_metadata_is_found_before_a_broken_rest() -> None:
    assert stored_metadata(HEAD + b'{"name":"a"}' + REST) == {"name": "a"}


@pytest.mark.parametrize("value", [b"", b"\xff", b"{}", HEAD, HEAD + b"7}", HEAD + b"[" * 9999])
def test_metadata_that_cannot_be_read_is_none(value: bytes) -> None:
    assert stored_metadata(value) is None


def test_every_byte_outside_of_the_metadata_stays() -> None:
    before = HEAD + '{"name":"a","labels":{"é":"ü"}}'.encode() + REST

    assert replace_metadata(before, {"name": "é"}) == HEAD + '{"name":"é"}'.encode() + REST


def test_fields_of_the_metadata_that_are_not_known_stay() -> None:
    before = HEAD + b'{"name":"a","labels":{"b":"c"},"future":[1]}' + REST

    after = splice_metadata(before, ObjectMeta(name="a", resource_version="7"))

    assert after == HEAD + b'{"name":"a","future":[1]}' + REST
