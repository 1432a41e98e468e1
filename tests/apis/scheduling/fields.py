"""Every field of scheduling.k8s.io/v1 with its protobuf number."""

SCHEDULING = {
    "PriorityClass": "metadata=1 value=2 globalDefault=3 description=4 preemptionPolicy=5",
}
