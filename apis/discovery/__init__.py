"""The discovery.k8s.io group: the endpoints of services."""

GROUP = "discovery.k8s.io"
