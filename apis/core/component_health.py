"""ComponentHealth: the ComponentStatuses of a server, which are checked when they are read.

Kubernetes calls its store `etcd-0`, one for each endpoint, and tools look for that name. So the
members of the store have these names here, whatever the store is. A scheduler and a controller
manager are programs of their own in Kubernetes; there are none here, and none are listed.
"""

from collections.abc import Awaitable, Callable

from apimachinery.meta.types import ObjectMeta
from apis.core.v1.component_status import HEALTHY, ComponentCondition, ComponentStatus


class ComponentHealth:
    """Checks each member of the store; *check_store* returns their problems."""

    def __init__(self, check_store: Callable[[], Awaitable[list[str]]]) -> None:
        self._check_store = check_store

    async def __call__(self) -> list[ComponentStatus]:
        return [
            _status(f"etcd-{number}", problem)
            for number, problem in enumerate(await self._check_store())
        ]


def _status(name: str, problem: str) -> ComponentStatus:
    condition = ComponentCondition(
        type=HEALTHY,
        status="False" if problem else "True",
        message="" if problem else "ok",
        error=problem,
    )
    return ComponentStatus(metadata=ObjectMeta(name=name), conditions=[condition])
