"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "ContainerResourceMetricSource.name": "v1.ResourceName",
    "ContainerResourceMetricStatus.name": "v1.ResourceName",
    "HPAScalingPolicy.type": "v2.HPAScalingPolicyType",
    "HPAScalingRules.selectPolicy": "v2.ScalingPolicySelect",
    "HorizontalPodAutoscalerCondition.status": "v1.ConditionStatus",
    "HorizontalPodAutoscalerCondition.type": "v2.HorizontalPodAutoscalerConditionType",
    "MetricSpec.type": "v2.MetricSourceType",
    "MetricStatus.type": "v2.MetricSourceType",
    "MetricTarget.type": "v2.MetricTargetType",
    "ResourceMetricSource.name": "v1.ResourceName",
    "ResourceMetricStatus.name": "v1.ResourceName",
}
