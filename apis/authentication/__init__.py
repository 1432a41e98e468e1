"""Authentication: questions about who somebody is. They are answered, and nothing is stored."""

GROUP = "authentication.k8s.io"
