"""Conversion reviews: the answers of a webhook are checked as by Kubernetes, word for word."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.unstructured import dump_content
from apimachinery.schema import GroupVersionKind
from apiserver.extensions.conversion_review import (
    Failure,
    NotConvertible,
    Review,
    restored_metadata,
    review_version,
)

UID = "0d9ca2ea"
KIND = GroupVersionKind("example.io", "v1", "Widget")
FAILED = "conversion webhook for example.io/v1, Kind=Widget failed: "
RETURNED = "conversion webhook for example.io/v1, Kind=Widget returned "
INVALID = f"{RETURNED}invalid object"
STRUCT = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\"";'
    r' Kind string "json:\"kind,omitempty\"" }'
)
NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)

Document = dict[str, Any]


def original(**metadata: Any) -> Document:
    meta = {"name": "lamp", "namespace": "default", "uid": "u", "labels": {"a": "b"}, **metadata}
    return {
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": meta,
        "spec": {"color": "red"},
    }


def result(**fields: Any) -> Document:
    return {**original(), "apiVersion": "example.io/v2", "spec": {"colour": "red"}, **fields}


def answer(*objects: Any, **response: Any) -> Document:
    return {
        "kind": "ConversionReview",
        "apiVersion": "apiextensions.k8s.io/v1",
        "response": {
            "uid": UID,
            "result": {"status": "Success"},
            "convertedObjects": list(objects),
            **response,
        },
    }


def review(*documents: Document, version: str = "v1", kind: str = "Widget") -> Review:
    kinds = GroupVersionKind("example.io", "v1", kind)
    return Review(documents or (original(),), kinds, "example.io/v2", UID, version)


def failure(sent: Any, asked: Review | None = None) -> NotConvertible:
    data = sent if isinstance(sent, bytes) else dump_content(sent)
    with pytest.raises(NotConvertible) as caught:
        (asked or review()).results(data)
    return caught.value


def metadata(**changes: Any) -> Document:
    return result(metadata={**original()["metadata"], **changes})


def test_a_request_has_the_form_of_a_review() -> None:
    assert orjson.loads(review().request()) == {
        "kind": "ConversionReview",
        "apiVersion": "apiextensions.k8s.io/v1",
        "request": {"uid": UID, "desiredAPIVersion": "example.io/v2", "objects": [original()]},
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }


def test_converted_objects_are_returned_in_order() -> None:
    two = review(original(), original(name="door"), kind="WidgetList")

    objects = two.results(orjson.dumps(answer(result(), metadata(name="door"))))

    assert [each["metadata"]["name"] for each in objects] == ["lamp", "door"]
    assert [each["spec"] for each in objects] == [{"colour": "red"}] * 2


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (answer(result(), uid="x"), f'{FAILED}expected response.uid="{UID}", got "x"'),
        (answer(result=None), f"{FAILED}response.result.status was '', not 'Success'"),
        (
            answer(result={"status": "Failure", "message": "no way"}),
            f"{FAILED}no way",
        ),
        (
            answer(result={"status": "Failure"}),
            f"{FAILED}response.result.status was 'Failure', not 'Success'",
        ),
        ({**answer(), "response": None}, f"{FAILED}no response provided"),
        (
            {**answer(), "kind": ""},
            f"{FAILED}expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview,"
            " got apiextensions.k8s.io/v1, Kind=",
        ),
        (
            b"{}",
            f"{FAILED}expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview,"
            " got /, Kind=",
        ),
    ],
)
def test_an_answer_without_objects_is_malformed(sent: Any, message: str) -> None:
    error = failure(sent)

    assert (str(error), error.failure) == (message, Failure.MALFORMED)


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (
            {**answer(), "kind": "Pod"},
            'no kind "Pod" is registered for version "apiextensions.k8s.io/v1" in scheme'
            ' "apimachinery"',
        ),
        (
            {**answer(), "apiVersion": "apiextensions.k8s.io/v1beta1"},
            "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
        ),
        (
            {"kind": "Status", "apiVersion": "v1"},
            "converting (v1.Status) to (v1.ConversionReview): unknown conversion",
        ),
        (
            b"<html></html>",
            "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go"
            f" value of type {STRUCT}",
        ),
        (
            b"[]",
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go"
            f" value of type {STRUCT}",
        ),
        (
            b'{"kind":"ConversionReview"',
            "couldn't get version/kind; json parse error: unexpected end of JSON input",
        ),
        (
            {**answer(), "kind": 5},
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go"
            " struct field .kind of type string",
        ),
        (
            {**answer(), "response": "x"},
            "json: cannot unmarshal string into Go struct field ConversionReview.response of type"
            " v1.ConversionResponse",
        ),
        (
            answer(uid=5),
            "json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of"
            " type types.UID",
        ),
        (
            answer(convertedObjects={}),
            "json: cannot unmarshal object into Go struct field"
            " ConversionResponse.response.convertedObjects of type []runtime.RawExtension",
        ),
        (
            answer(result={"status": 5}),
            "json: cannot unmarshal number into Go struct field Status.response.result.status of"
            " type string",
        ),
    ],
)
def test_an_answer_that_cannot_be_decoded_is_a_failed_call(sent: Any, problem: str) -> None:
    error = failure(sent)

    assert (str(error), error.failure) == (FAILED + problem, Failure.CALL)


@pytest.mark.parametrize("count", [0, 2])
def test_the_number_of_objects_must_be_that_of_the_request(count: int) -> None:
    error = failure(answer(*[result()] * count))

    assert str(error) == f"{RETURNED}{count} objects, expected 1"
    assert error.failure is Failure.PARTIAL


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (
            original(),
            f"{INVALID} at index 0: invalid groupVersion (expected example.io/v2, received"
            " example.io/v1)",
        ),
        (
            result(kind="Gadget"),
            f"{INVALID} at index 0: invalid kind (expected Widget, received Gadget)",
        ),
        (metadata(name="z"), f"{INVALID}: must have the same name: lamp != z"),
        (metadata(namespace="z"), f"{INVALID}: must have the same namespace: default != z"),
        (metadata(uid="z"), f"{INVALID}: must have the same UID: u != z"),
        (result(metadata=5), f"{INVALID}: must have the same name: lamp != "),
        (
            metadata(labels=5),
            f"{RETURNED}invalid metadata: invalid metadata.labels of type int64 in converted"
            " object",
        ),
        (
            metadata(labels={"a": 5}),
            f"{RETURNED}invalid metadata: metadata.labels[a] must be a string, but is int64 in"
            " converted object",
        ),
        (
            metadata(annotations=[1]),
            f"{RETURNED}invalid metadata: invalid metadata.annotations of type []interface {{}} in"
            " converted object",
        ),
        (
            metadata(labels={"-bad": "x"}),
            f'{RETURNED}invalid metadata: metadata.labels: Invalid value: "-bad": {NAME_RULE}',
        ),
        (
            metadata(annotations={"-b": "x"}),
            f'{RETURNED}invalid metadata: metadata.annotation: Invalid value: "-b": {NAME_RULE}',
        ),
        (None, "unexpected end of JSON input"),
        ("x", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
        ({"a": 1}, "Object 'Kind' is missing in '{\"a\":1}'"),
        ({"a": 2**64}, "Object 'Kind' is missing in '{\"a\":18446744073709551616}'"),
    ],
)
def test_a_converted_object_must_be_the_same_object(sent: Any, message: str) -> None:
    error = failure(answer(sent))

    assert (str(error), error.failure) == (message, Failure.INVALID_OBJECT)


def test_errors_of_a_list_name_the_object_by_its_index() -> None:
    two = review(original(), original(name="door"), kind="WidgetList")

    error = failure(answer(result(), metadata(name="z")), two)

    assert str(error) == (
        "conversion webhook for example.io/v1, Kind=WidgetList returned invalid converted object"
        " at index 1: must have the same name: door != z"
    )


def test_an_old_review_need_not_name_its_kind_and_uid() -> None:
    sent = {"response": {"result": {"status": "Success"}, "convertedObjects": [result()]}}

    assert review(version="v1beta1").results(orjson.dumps(sent)) == [result()]


def test_the_first_known_version_of_reviews_is_used() -> None:
    assert review_version(["v7", "v1beta1", "v1"]) == "v1beta1"
    with pytest.raises(NotConvertible, match="no supported conversion review versions"):
        review_version(["v7"])


WORD = st.text("abc", min_size=1, max_size=3)
MAPS = st.none() | st.dictionaries(WORD, WORD, max_size=3)
METADATA = st.fixed_dictionaries(
    {"name": WORD},
    optional={
        "labels": MAPS,
        "annotations": MAPS,
        "finalizers": st.lists(WORD, max_size=2),
        "generation": st.integers(0, 9),
    },
)


@given(METADATA, METADATA)
def test_only_labels_and_annotations_come_from_the_webhook(
    before: Document, sent: Document
) -> None:
    restored = restored_metadata({"metadata": before}, {"metadata": sent})

    for field in before.keys() | sent.keys() | restored.keys():
        source = sent if field in ("labels", "annotations") else before
        assert restored.get(field) == source.get(field)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(("kind", "apiVersion", "metadata", "spec"))


@given(st.binary(max_size=40) | st.builds(orjson.dumps, JSON))
def test_no_answer_ends_in_another_error(sent: bytes) -> None:
    failure(sent)


@given(
    st.sampled_from(("uid", "result", "convertedObjects")), JSON, st.none() | FIELDS, st.integers()
)
def test_no_field_of_an_answer_ends_in_another_error(
    field: str, value: Any, part: str | None, number: int
) -> None:
    """Whatever one part of a good answer is replaced by, the answer is good or refused."""
    sent = answer(result(**{part: value}) if part else result(), **({} if part else {field: value}))
    try:
        (obj,) = review().results(orjson.dumps(sent))
    except NotConvertible:
        return
    assert obj["metadata"]["name"] == "lamp"
