"""The group admissionregistration.k8s.io: webhooks and policies that decide about requests."""

GROUP = "admissionregistration.k8s.io"
