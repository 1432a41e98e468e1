"""The group apiregistration.k8s.io: which server serves which group version."""

GROUP = "apiregistration.k8s.io"
