"""QuotaDemand: what one write asks of the quotas of its namespace.

The rules of a request, as functions of a quota: whether it concerns the object, what it is charged,
and whether that is within its bounds. They are applied to the newest state of the quota, and so
more than once if other writers change it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from apis.core.quota.amounts import Amounts, add, increase, mask, shown, shown_names
from apis.core.quota.evaluator import Evaluator
from apis.core.quota.measure import Measure
from apis.core.quota.types import PendingCharge, ResourceQuota


class QuotaRefusal(Exception):
    """A quota does not allow a write; the text is the reason for the client."""


@dataclass(frozen=True, slots=True)
class QuotaDemand:
    """The use of an object as it will be stored, and as it was before an update."""

    evaluator: Evaluator
    object: Any
    measure: Measure
    usage: Amounts
    old: Measure | None = None
    old_usage: Amounts | None = None
    version: str = ""
    """The resourceVersion that an update replaces; empty for a new object."""
    bounded: bool = True
    """Whether bounds apply. What a status reports has happened: it is counted in any case."""

    def concerns(self, quota: ResourceQuota) -> bool:
        """Return whether the object uses what a quota limits. Raises QuotaRefusal.

        The names of the quota are those that are enforced, which follow its spec in a moment.
        """
        names = self.evaluator.matching(quota.status.hard)
        if not names or not self.measure.is_in(quota.spec):
            return False
        name = quota.metadata.name
        if missing := self.evaluator.missing(names, self.object):
            raise QuotaRefusal(f"failed quota: {name}: {missing}")
        if not names <= quota.status.used.keys():
            raise QuotaRefusal(f"status unknown for quota: {name}, resources: {shown_names(names)}")
        return True

    @property
    def uses_more(self) -> bool:
        """Whether the object uses more than before, no matter of what."""
        before = self.old_usage or {}
        return any(not amount.is_zero for amount in increase(self.usage, before).values())

    def increase(self, quota: ResourceQuota) -> Amounts:
        """Return what the object uses more than before, for a quota that concerns it."""
        return {
            name: amount for name, amount in self._increase(quota).items() if not amount.is_zero
        }

    def charge(self, quota: ResourceQuota, charge: PendingCharge) -> bool:
        """Add the increase to the use of *quota*; return whether there is one.

        Raises QuotaRefusal if it is too much.
        """
        if not self.concerns(quota):
            return False
        hard, used = quota.status.hard, quota.status.used
        increase = self.increase(quota)
        requested = mask(increase, hard)
        if not requested:
            return False
        if self.bounded:
            self._check(quota, requested)
        quota.status.used = dict(used)
        add(quota.status.used, requested)
        # A new name of the spec is about to be counted: then this object must not be missing.
        charge.used = mask(increase, {*hard, *quota.spec.hard})
        quota.status.pending.append(charge)
        return True

    def _increase(self, quota: ResourceQuota) -> Amounts:
        if self.old is None or self.old_usage is None or not self.old.is_in(quota.spec):
            return self.usage
        return increase(self.usage, self.old_usage)

    def _check(self, quota: ResourceQuota, requested: Amounts) -> None:
        hard, used = quota.status.hard, quota.status.used
        exceeded = {name for name in requested if used[name] + requested[name] > hard[name]}
        if exceeded:
            raise QuotaRefusal(
                f"exceeded quota: {quota.metadata.name},"
                f" requested: {_shown(requested, exceeded)},"
                f" used: {_shown(used, exceeded)},"
                f" limited: {_shown(hard, exceeded)}"
            )


def _shown(amounts: Amounts, names: Collection[str]) -> str:
    return shown(mask(amounts, names))
