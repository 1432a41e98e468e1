"""Coordination: leases, by which programs agree on who does something."""

GROUP = "coordination.k8s.io"
