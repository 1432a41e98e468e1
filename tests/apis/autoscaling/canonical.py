"""Autoscalers that v1 and v2 can both say: those that lose nothing between them.

As in Kubernetes, the annotations of v1 have no target type and no order of their own: a metric has
the type of the value it sets, the metric of CPU utilization is the last one, and current values
that v1 always writes are set.
"""

from typing import Any

from hypothesis import strategies as st

from apimachinery.meta.types import LabelSelector
from apimachinery.scalars.quantity import Quantity
from apimachinery.testing import Strategies, objects
from apis.autoscaling import v1, v2
from apis.autoscaling.v2.defaults import cpu_metric, set_behavior_defaults

PERCENT = st.integers(1, 2**31 - 1)
QUANTITY = st.integers(1, 10**9).map(lambda milli: Quantity(f"{milli}m"))
IDENTIFIER = objects(v2.MetricIdentifier)
REFERENCE = objects(v2.CrossVersionObjectReference)
LABELS = st.none() | objects(LabelSelector)


def metric_of(field: str, **parts: Any) -> st.SearchStrategy[v2.MetricSpec]:
    """Metrics with the source *field*, made of *parts*."""
    cls = {
        "object": v2.ObjectMetricSource,
        "pods": v2.PodsMetricSource,
        "resource": v2.ResourceMetricSource,
        "container_resource": v2.ContainerResourceMetricSource,
        "external": v2.ExternalMetricSource,
    }[field]
    kind = field.title().replace("_", "")
    return st.builds(cls, **parts).map(lambda source: v2.MetricSpec(type=kind, **{field: source}))


def status_of(field: str, **parts: Any) -> st.SearchStrategy[v2.MetricStatus]:
    """Current values with the source *field*, made of *parts*."""
    cls = {
        "object": v2.ObjectMetricStatus,
        "pods": v2.PodsMetricStatus,
        "resource": v2.ResourceMetricStatus,
        "container_resource": v2.ContainerResourceMetricStatus,
        "external": v2.ExternalMetricStatus,
    }[field]
    kind = field.title().replace("_", "")
    return st.builds(cls, **parts).map(lambda status: v2.MetricStatus(type=kind, **{field: status}))


VALUE = st.builds(v2.MetricTarget, type=st.just("Value"), value=QUANTITY)
AVERAGE = st.builds(v2.MetricTarget, type=st.just("AverageValue"), average_value=QUANTITY)
UTILIZATION = st.builds(v2.MetricTarget, type=st.just("Utilization"), average_utilization=PERCENT)
OTHER_METRICS = st.lists(
    st.one_of(
        metric_of("object", described_object=REFERENCE, metric=IDENTIFIER, target=VALUE | AVERAGE),
        metric_of("pods", metric=IDENTIFIER, target=AVERAGE),
        metric_of("resource", name=st.just("memory"), target=UTILIZATION | AVERAGE),
        metric_of("resource", name=st.just("cpu"), target=AVERAGE),
        metric_of(
            "container_resource",
            name=st.sampled_from(["cpu", "memory"]),
            container=st.text(),
            target=UTILIZATION | AVERAGE,
        ),
        metric_of("external", metric=IDENTIFIER, target=VALUE | AVERAGE),
    ),
    max_size=3,
)
METRICS = st.one_of(
    OTHER_METRICS.filter(bool),
    st.builds(lambda others, percent: [*others, cpu_metric(percent)], OTHER_METRICS, PERCENT),
)

WHOLE = st.builds(v2.MetricValueStatus, value=QUANTITY, average_value=st.none() | QUANTITY)
AVERAGED = st.builds(v2.MetricValueStatus, average_value=QUANTITY)
USED = st.builds(
    v2.MetricValueStatus, average_value=QUANTITY, average_utilization=st.none() | PERCENT
)
STATUSES = st.none() | st.lists(
    st.one_of(
        status_of("object", described_object=REFERENCE, metric=IDENTIFIER, current=WHOLE),
        status_of("pods", metric=IDENTIFIER, current=AVERAGED),
        status_of("resource", name=st.sampled_from(["cpu", "memory"]), current=USED),
        status_of("container_resource", name=st.just("cpu"), container=st.text(), current=USED),
        status_of("external", metric=IDENTIFIER, current=WHOLE),
    ),
    min_size=1,
    max_size=3,
)
RULES = objects(
    v2.HPAScalingRules,
    {
        (v2.HPAScalingRules, "policies"): st.none()
        | st.lists(objects(v2.HPAScalingPolicy), min_size=1, max_size=2)
    },
)


def with_defaults(
    behavior: v2.HorizontalPodAutoscalerBehavior,
) -> v2.HorizontalPodAutoscalerBehavior:
    set_behavior_defaults(behavior)
    return behavior


BEHAVIOR = st.none() | st.builds(
    v2.HorizontalPodAutoscalerBehavior, scale_up=st.none() | RULES, scale_down=st.none() | RULES
).map(with_defaults)

_FIELDS: Strategies = {
    (v2.HorizontalPodAutoscalerSpec, "metrics"): METRICS,
    (v2.HorizontalPodAutoscalerSpec, "behavior"): BEHAVIOR,
    (v2.HorizontalPodAutoscalerStatus, "current_metrics"): STATUSES,
    (v1.HorizontalPodAutoscalerSpec, "target_cpu_utilization_percentage"): PERCENT,
    # The raw value, which v1 has no field for, is zero and then kept in an annotation.
    (v1.HorizontalPodAutoscalerStatus, "current_cpu_utilization_percentage"): st.none(),
}

CANONICAL: Strategies = {
    **_FIELDS,
    # Never the default, which has no metrics.
    (v2.HorizontalPodAutoscaler, "spec"): objects(v2.HorizontalPodAutoscalerSpec, _FIELDS),
    (v1.HorizontalPodAutoscaler, "spec"): objects(v1.HorizontalPodAutoscalerSpec, _FIELDS),
}
"""For `objects` and `assert_roundtrip`."""
