"""The controller of ResourceQuotas: has the quotas of a namespace recounted when it changes."""

from typing import Final

from apis.core import v1
from apis.core.quota.changes import QuotaChanges
from apis.core.quota.recount import Recount
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.reconciler import Result
from client.workqueue.rate_limiters import ExponentialFailure

WORKERS: Final = 4
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last retries of a namespace, doubling in between."""


class ResourceQuotaController:
    """Reconciles all quotas of a namespace together."""

    def __init__(self, changes: QuotaChanges, recount: Recount) -> None:
        self._changes = changes
        self._recount = recount

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            v1.ResourceQuota,
            name="resourcequota",
            source=self._changes,
            workers=WORKERS,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def _reconcile(self, ctx: Context[v1.ResourceQuota]) -> Result:
        return Result(requeue_after=await self._recount(ctx.namespace))
