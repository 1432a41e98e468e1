"""Controllers of storagemigration.k8s.io."""
