"""The group storagemigration.k8s.io: requests to store objects again."""

GROUP = "storagemigration.k8s.io"
