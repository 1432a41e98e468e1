"""The fields of policy/v1 with their protobuf numbers, as Kubernetes publishes them."""

POLICY = {
    "Eviction": "metadata=1 deleteOptions=2",
    "PodDisruptionBudget": "metadata=1 spec=2 status=3",
    "PodDisruptionBudgetSpec": (
        "minAvailable=1 selector=2 maxUnavailable=3 unhealthyPodEvictionPolicy=4"
    ),
    "PodDisruptionBudgetStatus": (
        "observedGeneration=1 disruptedPods=2 disruptionsAllowed=3 currentHealthy=4 "
        "desiredHealthy=5 expectedPods=6 conditions=7"
    ),
}
