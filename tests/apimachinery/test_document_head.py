"""The head of a stored document names its kind, version and shape."""

import pytest

from apimachinery.document_head import StoredForm, form_in_head, stored_form, stored_head
from apimachinery.schema import GroupVersionKind

WIDGET = GroupVersionKind("example.io", "v1", "Widget")


@pytest.mark.parametrize("shape", ["", "abc123"])
def test_a_head_is_read_as_it_was_written(shape: str) -> None:
    data = stored_head(WIDGET, shape) + b'"metadata":{}}'

    assert form_in_head(data) == StoredForm("Widget", "example.io/v1", shape)


@pytest.mark.parametrize(
    "data",
    [
        b'{"kind":"Widget","apiVersion":"v1","spec":{},"metadata":{}}',
        b'{"apiVersion":"v1","kind":"Widget","metadata":{}}',
        b'{"kind":"W\\u0061","apiVersion":"v1","metadata":{}}',
        b"",
    ],
)
def test_another_beginning_is_no_head(data: bytes) -> None:
    assert form_in_head(data) is None


def test_a_head_is_read_whatever_follows_it() -> None:
    data = stored_head(WIDGET, "abc123") + b'"metadata":broken'

    assert stored_form(data) == StoredForm("Widget", "example.io/v1", "abc123")


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (
            b'{"kind":"Widget","apiVersion":"example.io/v1","metadata":{}}',
            StoredForm("Widget", "example.io/v1"),
        ),
        (
            b'{"kind":"Widget","apiVersion":"v1","$shape":"abc123","metadata":{}}',
            StoredForm("Widget", "v1", "abc123"),
        ),
        (
            b'{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"$shape":"no"}}',
            StoredForm("Widget", "example.io/v1"),
        ),
        (b'{"kind":"Widget","apiVersion":"v1"}', StoredForm("Widget", "v1")),
        (b'{"kind":"W\\u0061","apiVersion":"v1"}', StoredForm("Wa", "v1")),
        (b'{"kind":7,"apiVersion":null}', StoredForm("7", "")),
        (
            b'{"metadata":{},"kind":"Widget","apiVersion":"v1","$shape":"abc123"}',
            StoredForm("Widget", "v1", "abc123"),
        ),
        (b"[]", StoredForm()),
        (b"\xff", StoredForm()),
    ],
)
def test_the_form_of_a_document_of_anybody_is_read(value: bytes, form: StoredForm) -> None:
    assert stored_form(value) == form
