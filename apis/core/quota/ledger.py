"""Ledger: charges quotas for objects before they are stored.

A charge is one conditional write of the quota: it adds to `used` and leaves a pending charge, which
names the object. Once the object is stored the pending charge is settled, and if it is refused, the
charge is withdrawn. A server that stops in between leaves a pending charge for the recount, which
looks whether there is the object.

All charges of one quota that wait at the same time are one write, so writers of one server do not
compete with each other. Settlements wait a moment to travel with a charge: nothing depends on them.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

from apimachinery.errors import NotFound
from apimachinery.schema import GroupResource, GroupVersionResource
from apis.core import GROUP
from apis.core.quota.amounts import ZERO
from apis.core.quota.demand import QuotaDemand, QuotaRefusal
from apis.core.quota.evaluator import FindStore
from apis.core.quota.types import PendingCharge, ResourceQuota
from apiserver import Reservation
from apiserver.context import context_for

log = logging.getLogger(__name__)

QUOTAS: Final = GroupResource(GROUP, "resourcequotas")
BATCH: Final = 200
"""Charges of one write."""
SETTLE_SECONDS: Final = 0.1
"""How long a settlement waits for a charge to travel with."""


class Ledger:
    """The charges of one server process."""

    def __init__(self, find_store: FindStore) -> None:
        self._find_store = find_store
        self._accounts: dict[tuple[str, str], _Account] = {}
        self._ids = count(1)
        self._process = 0
        self._prefix = ""

    async def charge(self, quota: ResourceQuota, demand: QuotaDemand) -> Reservation | None:
        """Charge *demand* to the newest state of *quota*, None if it costs nothing.

        Raises QuotaRefusal.
        """
        account = self._account(quota)
        charge_id = self._next_id()
        if not await account.charge(_Charge(charge_id, demand)):
            return None

        async def settle() -> None:
            account.settle(charge_id)

        async def withdraw() -> None:
            await account.withdraw(charge_id)

        return Reservation(settle, withdraw)

    async def check(self, quota: ResourceQuota, demand: QuotaDemand) -> None:
        """Raise QuotaRefusal if *demand* could not be charged. Nothing is written."""
        charge = _Charge("", demand)
        await self._account(quota).check(charge)

    def _account(self, quota: ResourceQuota) -> "_Account":
        key = quota.metadata.namespace, quota.metadata.name
        account = self._accounts.get(key)
        if account is None:
            account = _Account(self._find_store, *key, on_idle=self._close)
            self._accounts[key] = account
        return account

    def _close(self, account: "_Account") -> None:
        self._accounts.pop((account.namespace, account.name), None)

    def _next_id(self) -> str:
        if self._process != os.getpid():  # a forked process must not use the ids of its parent
            self._process, self._prefix = os.getpid(), os.urandom(6).hex()
        return f"{self._prefix}-{next(self._ids)}"


@dataclass(slots=True, eq=False)
class _Charge:
    """One charge that waits, and its outcome on the state of the quota that was read last."""

    id: str
    demand: QuotaDemand
    charged: bool = False
    refusal: QuotaRefusal | None = None
    done: "asyncio.Future[None] | None" = None

    def apply(self, quota: ResourceQuota) -> None:
        self.charged, self.refusal = False, None
        meta = self.demand.object.metadata
        charge = PendingCharge(
            id=self.id,
            resource=str(self.demand.evaluator.resource),
            name=meta.name,
            uid=meta.uid,
            version=self.demand.version,
        )
        try:
            self.charged = self.demand.charge(quota, charge)
        except QuotaRefusal as refusal:
            self.refusal = refusal

    @property
    def is_left(self) -> bool:
        """Whether the writer has left."""
        return self.done is not None and self.done.done()

    def finish(self, error: BaseException | None = None) -> bool:
        """Wake the writer with the outcome; return False if it has left."""
        if self.done is None or self.done.done():
            return False
        if error is not None:
            self.done.set_exception(error)
        elif self.refusal is not None:
            self.done.set_exception(self.refusal)
        else:
            self.done.set_result(None)
        return True


class _Account:
    """What waits to be written to one quota."""

    def __init__(
        self,
        find_store: FindStore,
        namespace: str,
        name: str,
        *,
        on_idle: Callable[["_Account"], None],
    ) -> None:
        self.namespace = namespace
        self.name = name
        self._find_store = find_store
        self._on_idle = on_idle
        self._open = 0
        """The writers that use this account."""
        self._charges: list[_Charge] = []
        self._settled: set[str] = set()
        self._withdrawn: set[str] = set()
        self._writing: asyncio.Task[None] | None = None
        self._later: asyncio.TimerHandle | None = None

    async def charge(self, charge: _Charge) -> bool:
        """Return whether the charge was written and has to be settled. Raises QuotaRefusal."""
        charge.done = asyncio.get_running_loop().create_future()
        self._charges.append(charge)
        self._write_soon()
        self._open += 1
        try:
            await charge.done
        except asyncio.CancelledError:
            if charge.charged and not charge.done.cancelled():
                self._withdrawn.add(charge.id)
                self._write_soon()
            raise
        finally:
            self._open -= 1
        self._open += charge.charged
        return charge.charged

    async def check(self, charge: _Charge) -> None:
        await self._rewrite([charge], set(), set(), dry_run=True)
        if charge.refusal is not None:
            raise charge.refusal

    def settle(self, charge_id: str) -> None:
        """Forget a pending charge: its object is stored."""
        self._open -= 1
        self._settled.add(charge_id)
        if self._later is None and self._writing is None:
            loop = asyncio.get_running_loop()
            self._later = loop.call_later(SETTLE_SECONDS, self._write_soon)

    async def withdraw(self, charge_id: str) -> None:
        """Give back a pending charge: its object is not stored."""
        self._open -= 1
        self._withdrawn.add(charge_id)
        self._write_soon()
        if self._writing is not None:
            await asyncio.shield(self._writing)

    def _write_soon(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._writing is None:
            self._writing = asyncio.create_task(
                self._write(), name=f"quota {self.namespace}/{self.name}"
            )

    async def _write(self) -> None:
        """Write until nothing waits."""
        try:
            while self._charges or self._settled or self._withdrawn:
                await self._write_batch()
        finally:
            self._writing = None
            if not self._open:
                self._on_idle(self)

    async def _write_batch(self) -> None:
        batch, self._charges = self._charges[:BATCH], self._charges[BATCH:]
        batch = [charge for charge in batch if not charge.is_left]
        settled, self._settled = self._settled, set()
        withdrawn, self._withdrawn = self._withdrawn, set()
        try:
            await self._rewrite(batch, settled, withdrawn)
        except Exception as error:
            # Charges of unknown outcome, and what is not settled, are left to the recount.
            log.debug("quota %s/%s: %s", self.namespace, self.name, error)
            for charge in batch:
                charge.finish(error)
        except BaseException:
            for charge in batch:
                charge.finish(asyncio.CancelledError())
            raise
        else:
            for charge in batch:
                if not charge.finish() and charge.charged:
                    self._withdrawn.add(charge.id)

    async def _rewrite(
        self,
        batch: list[_Charge],
        settled: set[str],
        withdrawn: set[str],
        *,
        dry_run: bool = False,
    ) -> None:
        def change(quota: ResourceQuota) -> ResourceQuota:
            _close_charges(quota, settled, withdrawn)
            for charge in batch:
                charge.apply(quota)
            return quota

        context = context_for(
            "update",
            GroupVersionResource(GROUP, "v1", QUOTAS.resource),
            subresource="status",
            namespace=self.namespace,
            name=self.name,
        )
        try:
            await self._find_store(QUOTAS).rewrite(self.name, change, context, dry_run=dry_run)
        except NotFound:
            for charge in batch:
                charge.charged, charge.refusal = False, None


def _close_charges(quota: ResourceQuota, settled: set[str], withdrawn: set[str]) -> None:
    """Remove pending charges, and give back what the withdrawn ones have charged."""
    status = quota.status
    if not (settled or withdrawn):
        return
    used = dict(status.used)
    for charge in status.pending:
        if charge.id in withdrawn:
            for name, amount in charge.used.items():
                if name in used:
                    used[name] = max(used[name] - amount, ZERO)
    status.used = used
    status.pending = [
        charge
        for charge in status.pending
        if charge.id not in settled and charge.id not in withdrawn
    ]
