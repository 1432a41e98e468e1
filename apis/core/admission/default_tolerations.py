"""DefaultTolerationSeconds: pods stay for five minutes on a node that cannot be reached."""

from typing import Final

from apis.core.v1.node import NO_EXECUTE
from apis.core.v1.pod import Pod
from apis.core.v1.scheduling import Toleration
from apiserver import Attributes

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
SECONDS: Final = 300


def add_default_tolerations(attributes: Attributes) -> None:
    """Add a toleration for each of the two taints that the pod does not tolerate itself."""
    pod = attributes.object
    if attributes.subresource or not isinstance(pod, Pod):
        return
    for taint in (NOT_READY, UNREACHABLE):
        if not any(_tolerates(toleration, taint) for toleration in pod.spec.tolerations):
            pod.spec.tolerations.append(
                Toleration(
                    key=taint, operator="Exists", effect=NO_EXECUTE, toleration_seconds=SECONDS
                )
            )


def _tolerates(toleration: Toleration, taint: str) -> bool:
    return toleration.key in (taint, "") and toleration.effect in (NO_EXECUTE, "")
