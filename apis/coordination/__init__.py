"""The coordination.k8s.io group: leases, used for leader election."""

GROUP = "coordination.k8s.io"
