"""Every field of discovery.k8s.io/v1 with its protobuf number."""

DISCOVERY = {
    "Endpoint": (
        "addresses=1 conditions=2 hostname=3 targetRef=4 deprecatedTopology=5 nodeName=6 zone=7 "
        "hints=8"
    ),
    "EndpointConditions": "ready=1 serving=2 terminating=3",
    "EndpointHints": "forZones=1 forNodes=2",
    "EndpointPort": "name=1 protocol=2 port=3 appProtocol=4",
    "EndpointSlice": "metadata=1 endpoints=2 ports=3 addressType=4",
    "ForNode": "name=1",
    "ForZone": "name=1",
}
