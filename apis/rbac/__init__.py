"""RBAC: who may do what, by roles and by bindings of users to them."""

GROUP = "rbac.authorization.k8s.io"
