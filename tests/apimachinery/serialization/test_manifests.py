"""Manifests: several documents, lists, kinds with and without a class."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError
from apimachinery.scheme import Scheme
from apimachinery.serialization.manifests import dump_all, load_all
from apimachinery.serialization.yaml_writer import dump_yaml
from apis.core.register import add_to_scheme as add_core
from apis.core.v1 import ConfigMap
from apis.gadgets.register import add_to_scheme
from apis.gadgets.v1 import Gadget

MANIFEST = """
# two kinds that are known, one that is not
apiVersion: gadgets.example.io/v1
kind: Gadget
metadata: {name: lamp}
spec: {model: a1, replicas: 2}
---
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: one}
  data: {size: "1"}
- apiVersion: example.io/v9
  kind: Widget
  metadata: {name: two, labels: {a: b}}
  spec: {deep: [1, {x: null}]}
---
{"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "three"}}]}
"""


@pytest.fixture(scope="module")
def scheme() -> Scheme:
    made = Scheme()
    add_core(made)
    add_to_scheme(made)
    return made


def test_every_document_becomes_an_object_of_its_class_or_of_none(scheme: Scheme) -> None:
    lamp, one, two, three = load_all(MANIFEST, scheme)

    assert isinstance(lamp, Gadget)
    assert (lamp.spec.replicas, lamp.api_version) == (2, "gadgets.example.io/v1")
    assert isinstance(one, ConfigMap)
    assert one.data == {"size": "1"}
    assert isinstance(two, Unstructured)
    assert two.nested("spec", "deep", 0) == 1
    assert isinstance(three, ConfigMap)
    assert (three.kind, three.metadata.name) == ("ConfigMap", "three")


def test_without_a_scheme_there_are_no_classes() -> None:
    assert {type(obj) for obj in load_all(MANIFEST)} == {Unstructured}


def test_an_empty_manifest_has_no_objects() -> None:
    assert load_all("") == load_all(b"---\n# nothing\n---\n") == []


def test_what_is_written_is_what_was_read(scheme: Scheme) -> None:
    objects = load_all(MANIFEST, scheme)

    assert load_all(dump_all(objects), scheme) == objects


def test_keys_are_in_order_and_what_is_not_set_is_left_out(scheme: Scheme) -> None:
    written = dump_all(load_all(MANIFEST, scheme)[:2])

    assert written == (
        b"apiVersion: gadgets.example.io/v1\nkind: Gadget\nmetadata:\n  name: lamp\n"
        b"spec:\n  model: a1\n  replicas: 2\n  timeoutSeconds: 60\nstatus: {}\n"
        b'---\napiVersion: v1\ndata:\n  size: "1"\nkind: ConfigMap\nmetadata:\n  name: one\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "document 1: apiVersion: must be a non-empty string"),
        ("apiVersion: v1", "document 1: kind: must be a non-empty string"),
        ("apiVersion: a/b/c\nkind: X", "document 1: apiVersion: unexpected GroupVersion string"),
        ("- a", "document 1: must be an object"),
        ("{}\n---\n5", "document 1: apiVersion: must be"),
        ("apiVersion: v1\nkind: A\n---\n5", "document 2: must be an object"),
        ("apiVersion: v1\nkind: List\nitems: [5]", "document 1: items: must be objects"),
        ("apiVersion: v1\nkind: A\nkind: B", 'document 1: key "kind" is already set'),
        ("a: [", "yaml: "),
        (b"\xff", "yaml: not UTF-8"),
        (
            "apiVersion: v1\nkind: ConfigMap\ndate: {}",
            'document 1: unknown field "date" of ConfigMap',
        ),
        ("apiVersion: v1\nkind: ConfigMap\ndata: 5", "document 1: .*data"),
    ],
)
def test_what_is_wrong_is_said_with_the_number_of_the_document(
    text: str | bytes, message: str, scheme: Scheme
) -> None:
    with pytest.raises(DecodeError, match=message):
        load_all(text, scheme)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_any_document_is_read_or_refused(document: Any) -> None:
    whole = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "spec": document}
    for one in (document, whole, {**whole, "kind": "XList", "items": document}):
        try:
            load_all(dump_yaml(one))
        except DecodeError as error:
            assert str(error)
