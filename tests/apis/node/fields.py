"""Every field of node.k8s.io/v1 with its protobuf number."""

NODE = {
    "Overhead": "podFixed=1",
    "RuntimeClass": "metadata=1 handler=2 overhead=3 scheduling=4",
    "Scheduling": "nodeSelector=1 tolerations=2",
}
