"""The node.k8s.io group: container runtimes of nodes."""

GROUP = "node.k8s.io"
