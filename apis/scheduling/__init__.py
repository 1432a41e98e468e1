"""The scheduling.k8s.io group: priorities of pods."""

GROUP = "scheduling.k8s.io"
