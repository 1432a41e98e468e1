"""Scale: the document every scale subresource speaks."""

from apis.autoscaling.v1 import Scale, ScaleSpec
from apis.autoscaling.validation import validate_scale
from tests.apis.validating import decoded, messages


def test_replicas_are_not_negative() -> None:
    assert messages(validate_scale(Scale(spec=ScaleSpec(replicas=0)))) == []
    assert messages(validate_scale(Scale(spec=ScaleSpec(replicas=-1)))) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_the_number_that_was_observed_is_always_written() -> None:
    assert decoded(Scale, {}).model_dump_json() == (
        '{"metadata":{},"spec":{},"status":{"replicas":0}}'
    )
