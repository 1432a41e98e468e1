"""Annotations of autoscaling/v1: what a v2 autoscaler has, and v1 has no fields for.

Their texts are exactly those of Kubernetes, whose clients may read them. A text that cannot be
decoded is ignored, as is every annotation that v1 does not need.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from pydantic_core import from_json, to_json

from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model, field
from apis.autoscaling import v2
from apis.autoscaling.v1 import annotated_metrics as annotated
from apis.autoscaling.v1.metric_conversion import annotated_metric, converted, metric_of
from apis.autoscaling.v1.metric_status_conversion import annotated_status, status_of
from apis.autoscaling.v2.defaults import (
    BEHAVIOR_ANNOTATION,
    CONDITIONS_ANNOTATION,
    CURRENT_METRICS_ANNOTATION,
    METRICS_ANNOTATION,
    set_behavior_defaults,
)

T = TypeVar("T", bound=Model)

_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""Go's encoder escapes these, so that JSON can be embedded in HTML."""

_BEHAVIOR_FIELDS: Final = {
    name.lower(): name
    for name in (
        "ScaleUp",
        "ScaleDown",
        "StabilizationWindowSeconds",
        "SelectPolicy",
        "Policies",
        "Tolerance",
        "Type",
        "Value",
        "PeriodSeconds",
    )
}


class _Metrics(Model):
    items: list[annotated.MetricSpec] = field(default_factory=list)


class _Statuses(Model):
    items: list[annotated.MetricStatus] = field(default_factory=list)


class _Conditions(Model):
    items: list[annotated.HorizontalPodAutoscalerCondition] = field(default_factory=list)


def kept_metrics(annotations: Mapping[str, str]) -> list[v2.MetricSpec] | None:
    """Return the metrics beside CPU utilization; None if there is no readable annotation."""
    decoded = _decode_items(_Metrics, annotations.get(METRICS_ANNOTATION))
    return None if decoded is None else [metric_of(item) for item in decoded.items]


def kept_statuses(annotations: Mapping[str, str]) -> list[v2.MetricStatus] | None:
    decoded = _decode_items(_Statuses, annotations.get(CURRENT_METRICS_ANNOTATION))
    return None if decoded is None else [status_of(item) for item in decoded.items]


def kept_conditions(
    annotations: Mapping[str, str],
) -> list[v2.HorizontalPodAutoscalerCondition] | None:
    decoded = _decode_items(_Conditions, annotations.get(CONDITIONS_ANNOTATION))
    if decoded is None:
        return None
    return [_same(v2.HorizontalPodAutoscalerCondition, item) for item in decoded.items]


def kept_behavior(annotations: Mapping[str, str]) -> v2.HorizontalPodAutoscalerBehavior | None:
    document = _parse(annotations.get(BEHAVIOR_ANNOTATION))
    decoded = _decode(annotated.HorizontalPodAutoscalerBehavior, _with_go_names(document))
    if decoded is None or (decoded.scale_up is None and decoded.scale_down is None):
        return None
    behavior = v2.HorizontalPodAutoscalerBehavior(
        scale_up=converted(_rules_of, decoded.scale_up),
        scale_down=converted(_rules_of, decoded.scale_down),
    )
    set_behavior_defaults(behavior)
    return behavior


def metrics_text(metrics: Iterable[v2.MetricSpec]) -> str:
    return _encode(map(annotated_metric, metrics))


def statuses_text(statuses: Iterable[v2.MetricStatus]) -> str:
    return _encode(map(annotated_status, statuses))


def conditions_text(conditions: Iterable[v2.HorizontalPodAutoscalerCondition]) -> str:
    return _encode(_same(annotated.HorizontalPodAutoscalerCondition, item) for item in conditions)


def behavior_text(behavior: v2.HorizontalPodAutoscalerBehavior) -> str:
    kept = annotated.HorizontalPodAutoscalerBehavior(
        scale_up=converted(_annotated_rules, behavior.scale_up),
        scale_down=converted(_annotated_rules, behavior.scale_down),
    )
    return kept.model_dump_json().translate(_ESCAPES)


def _annotated_rules(rules: v2.HPAScalingRules) -> annotated.HPAScalingRules:
    return annotated.HPAScalingRules(
        stabilization_window_seconds=rules.stabilization_window_seconds,
        select_policy=rules.select_policy,
        policies=converted(_annotated_policies, rules.policies),
        tolerance=rules.tolerance,
    )


def _rules_of(rules: annotated.HPAScalingRules) -> v2.HPAScalingRules:
    return v2.HPAScalingRules(
        stabilization_window_seconds=rules.stabilization_window_seconds,
        select_policy=rules.select_policy,
        policies=converted(_policies_of, rules.policies),
        tolerance=rules.tolerance,
    )


def _annotated_policies(policies: list[v2.HPAScalingPolicy]) -> list[annotated.HPAScalingPolicy]:
    return [_same(annotated.HPAScalingPolicy, policy) for policy in policies]


def _policies_of(policies: list[annotated.HPAScalingPolicy]) -> list[v2.HPAScalingPolicy]:
    return [_same(v2.HPAScalingPolicy, policy) for policy in policies]


def _same(cls: type[T], source: Model) -> T:
    """Return an object of *cls*, whose fields have the same names and types."""
    return cls(**{name: getattr(source, name) for name in cls.model_fields})


def _encode(items: Iterable[Model]) -> str:
    return f"[{','.join(item.model_dump_json() for item in items)}]".translate(_ESCAPES)


def _decode_items(cls: type[T], text: str | None) -> T | None:
    if text is None:
        return None
    items = _parse(text)
    # JSON's null is an empty list to Go.
    if items is None and text.strip() != "null":
        return None
    return _decode(cls, {"items": items})


def _parse(text: str | None) -> Any:
    try:
        return None if text is None else from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def _decode(cls: type[T], document: Any) -> T | None:
    try:
        return decode_json(cls, to_json(document), find_unknown=False).object
    except DecodeError:
        return None


def _with_go_names(value: Any) -> Any:
    """Return a document with the names of the fields; Go's decoder ignores the case of letters."""
    if isinstance(value, dict):
        return {
            _BEHAVIOR_FIELDS.get(name.lower(), name): _with_go_names(item)
            for name, item in value.items()
        }
    return [_with_go_names(item) for item in value] if isinstance(value, list) else value
