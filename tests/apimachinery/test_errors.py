"""Errors: their messages, what they tell a client, and the way to a Status and back."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery import errors
from apimachinery.codec import dump_json
from apimachinery.errors import APIError, error_class, from_status
from apimachinery.fieldpath import FieldErrors, Path, invalid, required
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.model.decoding import decode_json
from apimachinery.schema import GroupKind, GroupResource

PODS = GroupResource("", "pods")
DEPLOYMENTS = GroupResource("apps", "deployments")
CODES = {
    "BadRequest": 400,
    "Unauthorized": 401,
    "Forbidden": 403,
    "NotFound": 404,
    "MethodNotAllowed": 405,
    "NotAcceptable": 406,
    "AlreadyExists": 409,
    "Conflict": 409,
    "Gone": 410,
    "Expired": 410,
    "RequestEntityTooLarge": 413,
    "UnsupportedMediaType": 415,
    "Invalid": 422,
    "TooManyRequests": 429,
    "InternalError": 500,
    "ServerTimeout": 500,
    "StorageReadError": 500,
    "ServiceUnavailable": 503,
    "Timeout": 504,
}


def every_class() -> Iterator[type[APIError]]:
    return iter(APIError.__subclasses__())


def test_there_is_one_class_for_each_reason_named_after_it() -> None:
    assert {cls.__name__: cls.code for cls in every_class()} == CODES
    assert all(cls.reason == cls.__name__ for cls in every_class())


MESSAGES = [
    (errors.NotFound.of(PODS, "a"), 'pods "a" not found'),
    (errors.NotFound.of(DEPLOYMENTS, "a"), 'deployments.apps "a" not found'),
    (errors.NotFound.resource(), "the server could not find the requested resource"),
    (errors.AlreadyExists.of(PODS, "a"), 'pods "a" already exists'),
    (
        errors.AlreadyExists.generated_name(PODS, "a-x"),
        'pods "a-x" already exists, the server was not able to generate a unique name for the'
        " object",
    ),
    (
        errors.Conflict.modified(DEPLOYMENTS, "a"),
        'Operation cannot be fulfilled on deployments.apps "a": the object has been modified;'
        " please apply your changes to the latest version and try again",
    ),
    (errors.Forbidden.of(PODS, "a", "no"), 'pods "a" is forbidden: no'),
    (errors.Forbidden.of(PODS, "", "no"), "pods is forbidden: no"),
    (errors.Forbidden.of(GroupResource(), "", "no"), "forbidden: no"),
    (errors.Unauthorized(), "Unauthorized"),
    (
        errors.MethodNotAllowed(),
        "the server does not allow this method on the requested resource",
    ),
    (
        errors.MethodNotAllowed.of(PODS, "watch"),
        'watch is not supported on resources of kind "pods"',
    ),
    (
        errors.NotAcceptable.of(["application/json", "application/yaml"]),
        "only the following media types are accepted: application/json, application/yaml",
    ),
    (
        errors.UnsupportedMediaType.of(["application/json"]),
        "the body of the request was in an unknown format - accepted media types include:"
        " application/json",
    ),
    (errors.RequestEntityTooLarge.of(5), "Request entity too large: limit is 5"),
    (
        errors.Invalid.of(GroupKind("apps", "Deployment"), "a", [required(Path("spec"))]),
        'Deployment.apps "a" is invalid: spec: Required value',
    ),
    (
        errors.Invalid.of(
            GroupKind("", "Pod"), "a", [required(Path("b")), invalid(Path("c"), 1, "too few")]
        ),
        'Pod "a" is invalid: [b: Required value, c: Invalid value: 1: too few]',
    ),
    (
        errors.Invalid.request(),
        "the server rejected our request due to an error in our request",
    ),
    (errors.TooManyRequests.of("busy", retry_after=3), "busy"),
    (errors.InternalError.of("oops"), "Internal error occurred: oops"),
    (
        errors.ServerTimeout.of(PODS, "list"),
        "The list operation against pods could not be completed at this time, please try again.",
    ),
    (errors.ServiceUnavailable.of("down"), "down"),
    (errors.Timeout.of("too slow"), "Timeout: too slow"),
    (
        errors.Timeout.future_revision(9, 5),
        "Timeout: Too large resource version: 9, current: 5",
    ),
]


@pytest.mark.parametrize(("error", "message"), MESSAGES, ids=lambda found: type(found).__name__)
def test_messages_are_those_of_kubernetes(error: APIError, message: str) -> None:
    assert str(error) == error.message == message


@pytest.mark.parametrize("error", [error for error, _ in MESSAGES], ids=lambda e: e.reason)
def test_an_error_survives_the_wire(error: APIError) -> None:
    sent = decode_json(Status, dump_json(error.status)).object

    got = from_status(sent)

    assert type(got) is type(error)
    assert got.status == error.status
    assert (got.code, got.reason, got.retry_after) == (error.code, error.reason, error.retry_after)


def test_details_name_what_it_is_about() -> None:
    details = errors.NotFound.of(DEPLOYMENTS, "a").details

    assert details == StatusDetails(name="a", group="apps", kind="deployments")


def test_every_field_error_is_a_cause() -> None:
    wrong = [required(Path("b")), invalid(Path("c"), 1, "too few")]

    error = errors.Invalid.of(GroupKind("", "Pod"), "a", wrong)

    assert error.causes == [
        StatusCause(reason="FieldValueRequired", message="Required value", field="b"),
        StatusCause(reason="FieldValueInvalid", message="Invalid value: 1: too few", field="c"),
    ]
    assert error.has_cause("FieldValueRequired")
    assert not error.has_cause("FieldValueDuplicate")


def test_conflicts_of_an_apply_name_manager_and_field() -> None:
    error = errors.Conflict.apply("Apply failed", [('conflict with "m"', ".data.a")])

    assert error.causes == [
        StatusCause(reason="FieldManagerConflict", message='conflict with "m"', field=".data.a")
    ]


def test_an_error_without_details_has_no_causes_and_no_delay() -> None:
    error = errors.BadRequest("no")

    assert error.causes == ()
    assert error.retry_after == 0


def test_an_expired_list_can_tell_how_to_go_on() -> None:
    error = errors.Expired("gone")
    error.continue_token = "next"

    assert error.status.metadata.continue_ == "next"
    assert from_status(error.status).continue_token == "next"


@pytest.mark.parametrize(
    ("reason", "code", "cls"),
    [
        ("NotFound", 410, errors.NotFound),
        ("", 404, errors.NotFound),
        ("Unheard", 404, errors.NotFound),
        ("", 409, errors.Conflict),
        ("", 410, errors.Gone),
        ("", 500, errors.InternalError),
        ("", 504, errors.Timeout),
        ("Unheard", 418, APIError),
        ("", 0, APIError),
    ],
)
def test_a_reason_nobody_knows_is_judged_by_its_code(
    reason: str, code: int, cls: type[APIError]
) -> None:
    assert error_class(reason, code) is cls


def test_what_a_status_says_is_kept_even_when_nobody_knows_it() -> None:
    error = from_status(Status(status="Failure", reason="Teapot", code=418))

    assert type(error) is APIError
    assert (error.reason, error.code, str(error)) == ("Teapot", 418, "Teapot")


@given(st.text(max_size=5), st.integers(0, 999), st.text(max_size=5))
def test_any_status_is_an_error_with_a_message(reason: str, code: int, message: str) -> None:
    error = from_status(Status(reason=reason, code=code, message=message))

    assert str(error)
    assert error.reason == reason


def test_the_causes_of_an_invalid_object_are_limited() -> None:
    """Validation ends when the list is full."""
    validated = []

    def validate() -> FieldErrors:
        for number in range(1000):
            validated.append(number)
            yield required(Path("a").index(number))

    error = errors.Invalid.of(GroupKind("", "A"), "x", validate())

    assert len(validated) == 101
    assert [cause.field for cause in error.causes[:2]] == ["a[0]", "a[1]"]
    assert len(error.causes) == 101
    assert error.causes[-1].message == "too many errors, the list is truncated"
    assert error.message.endswith("a[99]: Required value]: too many errors, the list is truncated")


def test_a_message_is_cut() -> None:
    assert len(errors.BadRequest("x" * 3_000_000).message) == errors.MAX_MESSAGE + 3


def test_an_error_that_occurs_twice_is_one_cause() -> None:
    error = errors.Invalid.of(GroupKind("", "A"), "x", iter([required(Path("a"))] * 2))

    assert [cause.field for cause in error.causes] == ["a"]
    assert error.message == 'A "x" is invalid: a: Required value'
