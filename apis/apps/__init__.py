"""The apps group: workloads that keep a number of pods running."""

GROUP = "apps"
