"""Defaults of ReplicationControllers."""

from apis.core.v1.replication_controller import ReplicationController


def set_replication_controller_defaults(controller: ReplicationController) -> None:
    spec = controller.spec
    if spec.replicas is None:
        spec.replicas = 1
    labels = spec.template.metadata.labels if spec.template else {}
    if not spec.selector:
        spec.selector = dict(labels)
    if not controller.metadata.labels:
        controller.metadata.labels = dict(labels)
