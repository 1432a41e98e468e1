"""RBAC: roles that allow verbs on resources, and bindings that grant them to users."""

GROUP = "rbac.authorization.k8s.io"
