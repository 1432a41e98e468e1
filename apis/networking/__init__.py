"""The networking.k8s.io group: ingresses, network policies, and the addresses of services."""

GROUP = "networking.k8s.io"
