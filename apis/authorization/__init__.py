"""Authorization: questions about who may do what. They are answered, and nothing is stored."""

GROUP = "authorization.k8s.io"
