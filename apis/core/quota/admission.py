"""The admission plugin ResourceQuota: charges the quotas of a namespace for what is written there.

It is the last plugin, so nothing rejects a write that it has charged but its storage, and then the
charge is withdrawn.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Final

from apimachinery.scalars.time import now
from apimachinery.schema import GroupKind
from apis.core import GROUP
from apis.core.quota.amounts import ZERO, shown_names
from apis.core.quota.configuration import LimitedResource
from apis.core.quota.default_limits import DefaultLimits
from apis.core.quota.demand import QuotaDemand, QuotaRefusal
from apis.core.quota.evaluator import Evaluator
from apis.core.quota.evaluators import Evaluators
from apis.core.quota.ledger import Ledger
from apis.core.quota.namespace_quotas import NamespaceQuotas
from apis.core.quota.types import ResourceQuota
from apiserver import Attributes, ServerParts
from apiserver.admission.chain import Operation

_NAMESPACE: Final = GroupKind(GROUP, "Namespace")
_WRITES: Final = (Operation.CREATE, Operation.UPDATE)


class QuotaAdmission:
    """Admits a write if all quotas that concern it allow it."""

    def __init__(self, parts: ServerParts, limited: Sequence[LimitedResource] = ()) -> None:
        self._find_store = parts.find_store
        self._limits = DefaultLimits(limited)
        self._evaluators = Evaluators(parts.find_store)
        self._ledger = Ledger(parts.find_store)
        self._quotas: NamespaceQuotas | None = None

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        """Charge a creation or an update. Raises Forbidden."""
        namespace = attributes.namespace
        if not namespace or attributes.operation not in _WRITES or attributes.kind == _NAMESPACE:
            return None
        if self._quotas is None:
            self._quotas = NamespaceQuotas(self._find_store)
        quotas = self._quotas.of(namespace)
        return self._admit(attributes, quotas) if quotas or self._limits else None

    async def _admit(self, attributes: Attributes, quotas: Sequence[ResourceQuota]) -> None:
        evaluator = self._evaluators.of(attributes.resource)
        if evaluator is None or not evaluator.handles(
            attributes.operation, attributes.subresource, attributes.object, attributes.old_object
        ):
            return
        demand = _demand(evaluator, attributes)
        try:
            concerned = [quota for quota in quotas if demand.concerns(quota)]
            if negative := [name for name, amount in demand.usage.items() if amount < ZERO]:
                raise QuotaRefusal(
                    f"quota usage is negative for resource(s): {shown_names(negative)}"
                )
            charged = [quota for quota in concerned if demand.increase(quota)]
            if self._limits and (charged or (not concerned and demand.uses_more)):
                self._limits.check(demand, quotas, concerned)
            for quota in charged:
                await self._charge(attributes, quota, demand)
        except QuotaRefusal as refusal:
            raise attributes.forbidden(str(refusal)) from refusal

    async def _charge(
        self, attributes: Attributes, quota: ResourceQuota, demand: QuotaDemand
    ) -> None:
        if attributes.dry_run:
            await self._ledger.check(quota, demand)
            return
        reservation = await self._ledger.charge(quota, demand)
        if reservation is not None:
            attributes.hold(reservation)


def _demand(evaluator: Evaluator, attributes: Attributes) -> QuotaDemand:
    time, new, old = now(), attributes.object, attributes.old_object
    measure = evaluator.measure(new)
    demand = QuotaDemand(
        evaluator,
        new,
        measure,
        measure.at(time),
        bounded=attributes.subresource != "status",
    )
    if old is None or attributes.operation is Operation.CREATE:
        return demand
    before = evaluator.measure(old)
    version = old.metadata.resource_version
    return replace(demand, old=before, old_usage=before.at(time), version=version)
