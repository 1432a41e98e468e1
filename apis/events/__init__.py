"""The events.k8s.io group: the events of core with newer field names and stricter validation."""

GROUP = "events.k8s.io"
