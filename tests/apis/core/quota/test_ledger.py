"""The ledger: charges that wait together are one write, and writers that leave give back theirs."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from apimachinery.schema import GroupResource
from apis.core import v1
from apis.core.quota.demand import QuotaDemand, QuotaRefusal
from apis.core.quota.evaluator import Evaluator
from apis.core.quota.ledger import QUOTAS, Ledger
from apis.core.quota.types import ResourceQuota
from apiserver.registry.allocation import Reservation
from tests.apis.core.quota.quota_server import Namespace, Server, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONFIG_MAPS = Evaluator(GroupResource("", "configmaps"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


def demand() -> QuotaDemand:
    measure = CONFIG_MAPS.measure(None)
    return QuotaDemand(CONFIG_MAPS, v1.ConfigMap(), measure, measure.usage)


async def stored(server: Server, here: Namespace) -> ResourceQuota:
    quota: ResourceQuota = await server.app.groups.store(QUOTAS).read("q", namespace=here.name)
    return quota


async def used(server: Server, here: Namespace) -> tuple[str, int]:
    """Return what is used, and the number of pending charges."""
    status = (await stored(server, here)).status
    return str(status.used["configmaps"]), len(status.pending)


async def test_charges_that_wait_together_are_one_write(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "10"})
    ledger, quota = Ledger(server.app.groups.store), await stored(server, here)
    changes = server.app.groups.store(QUOTAS).cached.collection.window
    before = len(changes)

    outcomes = await asyncio.gather(
        *(ledger.charge(quota, demand()) for _ in range(30)), return_exceptions=True
    )

    charged = [one for one in outcomes if isinstance(one, Reservation)]
    refused = [one for one in outcomes if isinstance(one, QuotaRefusal)]
    assert (len(charged), len(refused)) == (10, 20)
    assert await used(server, here) == ("10", 10)
    assert len(changes) == before + 1


async def test_what_is_withdrawn_can_be_charged_again_at_once(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "1"})
    ledger, quota = Ledger(server.app.groups.store), await stored(server, here)
    first = await ledger.charge(quota, demand())
    assert first is not None

    await first.revert()

    assert await ledger.charge(quota, demand()) is not None
    assert await used(server, here) == ("1", 1)


async def test_a_settled_charge_is_forgotten_in_a_moment(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "5"})
    ledger, quota = Ledger(server.app.groups.store), await stored(server, here)
    charge = await ledger.charge(quota, demand())
    assert charge is not None

    await charge.commit()

    async with asyncio.timeout(5):
        while (await used(server, here))[1]:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("turns", range(0, 12, 2))
async def test_a_writer_that_leaves_is_not_charged(server: Server, turns: int) -> None:
    """Whether it leaves before, during or after the write of the quota."""
    here = await server.namespace()
    await here.quota({"configmaps": "5"})
    ledger, quota = Ledger(server.app.groups.store), await stored(server, here)
    charging = asyncio.create_task(ledger.charge(quota, demand()))
    for _ in range(turns):
        await asyncio.sleep(0)

    charging.cancel()
    outcomes = await asyncio.gather(charging, return_exceptions=True)

    if isinstance(outcomes[0], Reservation):
        await outcomes[0].revert()
    async with asyncio.timeout(5):
        while await used(server, here) != ("0", 0):
            await asyncio.sleep(0.01)


async def test_a_quota_that_is_deleted_meanwhile_charges_nothing(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "0"})
    ledger, quota = Ledger(server.app.groups.store), await stored(server, here)
    await here.driver.delete(here.path("resourcequotas", "q"))

    assert await ledger.charge(quota, demand()) is None


async def test_a_quota_that_comes_again_is_enforced_again(server: Server) -> None:
    here = await server.namespace()
    for _ in range(2):
        await here.quota({"configmaps": "0"})
        refused = await here.create("configmaps", {"metadata": {"name": "a"}})
        await here.driver.delete(here.path("resourcequotas", "q"))
        allowed = await here.create("configmaps", {"metadata": {"generateName": "a-"}})

        assert (refused.code, allowed.code) == (403, 201)
        await here.driver.delete(here.path("configmaps"))
