"""Authentication: reviews of users and tokens, which are answered and not stored."""

GROUP = "authentication.k8s.io"
