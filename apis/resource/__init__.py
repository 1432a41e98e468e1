"""The group resource.k8s.io: dynamic allocation of devices."""

GROUP = "resource.k8s.io"
