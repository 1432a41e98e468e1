"""No request at the limit of anything holds the event loop for more than 50 ms."""

import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from tests.faults import requests_at_limits as limits
from tests.faults.asgi_requests import ask, is_timeout
from tests.faults.campaign import Campaign, serving
from tests.faults.figures import record_figures
from tests.faults.hostile import Request
from tests.pauses import loop_pauses, machine_factor, measures_time

pytestmark = measures_time

LONGEST = 0.05
"""Seconds on the reference machine."""
ATTEMPTS = 3
SHORT = (
    *("8,000 owner references", "a million empty objects", "100,000 invalid keys"),
    *("flow-style YAML", "10,000 copies", "merge patch", "a rule that doubles", "a large enum"),
    *("more words than allowed", "a set of 32 KiB", "a wide rule", "groups"),
)


@asynccontextmanager
async def prepared() -> AsyncIterator[Campaign]:
    """A whole server with custom resources and a config map, warmed up."""
    async with serving() as server:
        campaign = Campaign(server, 0)
        await campaign.prepare()
        one = Request("POST", limits.CONFIG_MAPS, b"", [], b'{"metadata":{"name":"one"}}')
        await ask(server.app, one, server.token)
        yield campaign


async def pause_of(
    campaign: Campaign, build: limits.Build, bound: float, *, below: int = 500
) -> tuple[float, int]:
    """The longest pause during a request, the shortest of a few attempts, and its code.

    Other processes of the machine lengthen a pause, never shorten it. Codes are *below* a limit.
    """
    shortest, code = float("inf"), 0
    for _ in range(ATTEMPTS):
        request = build()
        # The garbage collector need not visit what only this test holds.
        gc.collect()
        gc.freeze()
        async with loop_pauses(time.process_time) as pauses:
            reply = await ask(campaign.server.app, request, campaign.server.token)
        assert reply.code < below or is_timeout(reply), reply
        shortest, code = min(shortest, pauses.longest), reply.code
        if shortest < bound:
            break
    return shortest, code


async def held(part: Iterator[tuple[str, limits.Build]]) -> tuple[dict[str, float], float]:
    """The longest pause of each request, in milliseconds, and what the bound is here."""
    bound = LONGEST * machine_factor()
    found = {}
    async with prepared() as campaign:
        for name, build in part:
            seconds, code = await pause_of(campaign, build, bound)
            found[f"{name} ({code})"] = seconds * 1000
    return found, bound * 1000


async def test_no_request_of_a_few_at_their_limits_holds_the_loop() -> None:
    known = limits.all_at_limits()

    found, bound = await held((name, known[name]) for name in SHORT)

    assert not {name: pause for name, pause in found.items() if pause > bound}


@pytest.mark.torture
@pytest.mark.parametrize("part", limits.PARTS)
async def test_no_request_at_a_limit_holds_the_loop(part: str) -> None:
    found, bound = await held(limits.PARTS[part]())

    longest = max(found, key=lambda name: found[name])
    record_figures("pauses", part, requests=len(found), longest=found[longest], which=longest)
    assert not {name: pause for name, pause in found.items() if pause > bound}
