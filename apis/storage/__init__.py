"""The storage.k8s.io group: classes, drivers and attachments of volumes."""

GROUP = "storage.k8s.io"
