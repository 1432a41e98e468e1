"""Every field of autoscaling/v1 and v2 with its protobuf number."""

AUTOSCALING_V1 = {
    "CrossVersionObjectReference": "kind=1 name=2 apiVersion=3",
    "HorizontalPodAutoscaler": "metadata=1 spec=2 status=3",
    "HorizontalPodAutoscalerSpec": (
        "scaleTargetRef=1 minReplicas=2 maxReplicas=3 targetCPUUtilizationPercentage=4"
    ),
    "HorizontalPodAutoscalerStatus": (
        "observedGeneration=1 lastScaleTime=2 currentReplicas=3 desiredReplicas=4 "
        "currentCPUUtilizationPercentage=5"
    ),
    "Scale": "metadata=1 spec=2 status=3",
    "ScaleSpec": "replicas=1",
    "ScaleStatus": "replicas=1 selector=2",
}

AUTOSCALING_V2 = {
    "ContainerResourceMetricSource": "name=1 target=2 container=3",
    "ContainerResourceMetricStatus": "name=1 current=2 container=3",
    "CrossVersionObjectReference": "kind=1 name=2 apiVersion=3",
    "ExternalMetricSource": "metric=1 target=2",
    "ExternalMetricStatus": "metric=1 current=2",
    "HPAScalingPolicy": "type=1 value=2 periodSeconds=3",
    "HPAScalingRules": "selectPolicy=1 policies=2 stabilizationWindowSeconds=3 tolerance=4",
    "HorizontalPodAutoscaler": "metadata=1 spec=2 status=3",
    "HorizontalPodAutoscalerBehavior": "scaleUp=1 scaleDown=2",
    "HorizontalPodAutoscalerCondition": (
        "type=1 status=2 lastTransitionTime=3 reason=4 message=5 observedGeneration=6"
    ),
    "HorizontalPodAutoscalerSpec": (
        "scaleTargetRef=1 minReplicas=2 maxReplicas=3 metrics=4 behavior=5"
    ),
    "HorizontalPodAutoscalerStatus": (
        "observedGeneration=1 lastScaleTime=2 currentReplicas=3 desiredReplicas=4 "
        "currentMetrics=5 conditions=6"
    ),
    "MetricIdentifier": "name=1 selector=2",
    "MetricSpec": "type=1 object=2 pods=3 resource=4 external=5 containerResource=7",
    "MetricStatus": "type=1 object=2 pods=3 resource=4 external=5 containerResource=7",
    "MetricTarget": "type=1 value=2 averageValue=3 averageUtilization=4",
    "MetricValueStatus": "value=1 averageValue=2 averageUtilization=3",
    "ObjectMetricSource": "describedObject=1 target=2 metric=3",
    "ObjectMetricStatus": "metric=1 current=2 describedObject=3",
    "PodsMetricSource": "metric=1 target=2",
    "PodsMetricStatus": "metric=1 current=2",
    "ResourceMetricSource": "name=1 target=2",
    "ResourceMetricStatus": "name=1 current=2",
}
