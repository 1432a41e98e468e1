"""The evaluators: what each object counts as, and what a quota says when it is too much."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.apis.core.quota.quota_server import Server, serving
from tests.apis.core.quota.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
async def test_an_object_counts_as_in_kubernetes(server: Server, scenario: Scenario) -> None:
    here = await server.namespace()
    await here.quota(scenario.hard, **scenario.spec)
    document = json.loads(json.dumps(scenario.document).replace('"@"', json.dumps(here.name)))

    answer = await here.create(scenario.resource, document, api=scenario.api)

    if scenario.refused:
        assert answer.code == 403, answer.body
        assert answer.json["message"].partition(" is forbidden: ")[2] == scenario.refused
        return
    assert answer.code == 201, answer.body
    if scenario.used:
        charged = (await here.status())["used"]
        assert charged == scenario.used
        # The recount comes to the same result, the next time from what it remembers.
        await here.driver.patch(
            here.path("resourcequotas", "q") + "/status",
            {"status": {"used": dict.fromkeys(scenario.used, "7")}},
        )
        await here.used(scenario.used)
