"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "ContainerResourceMetricSource.name": "v1.ResourceName",
    "ContainerResourceMetricStatus.name": "v1.ResourceName",
    "HorizontalPodAutoscalerCondition.status": "v1.ConditionStatus",
    "HorizontalPodAutoscalerCondition.type": "v1.HorizontalPodAutoscalerConditionType",
    "MetricSpec.type": "v1.MetricSourceType",
    "MetricStatus.type": "v1.MetricSourceType",
    "ResourceMetricSource.name": "v1.ResourceName",
    "ResourceMetricStatus.name": "v1.ResourceName",
}
