"""Authorization: access reviews, which are answered and not stored."""

GROUP = "authorization.k8s.io"
