"""Controllers of admissionregistration.k8s.io, run by the leader."""
