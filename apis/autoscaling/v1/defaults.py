"""Defaults of autoscaling/v1.

The default metric is set by the conversion, which also reads the metrics in annotations.
"""

from apis.autoscaling.v1.types import HorizontalPodAutoscalerSpec


def set_autoscaler_spec_defaults(spec: HorizontalPodAutoscalerSpec) -> None:
    if spec.min_replicas is None:
        spec.min_replicas = 1
