"""Quotas as clients meet them: what is refused, with which message, and what is counted."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.apis.core.quota.quota_server import Server, config_map, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


async def test_an_object_beyond_the_quota_is_refused(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "2", "count/configmaps": "5"})
    await here.created("configmaps", config_map("a"))
    await here.created("configmaps", config_map("b"))

    answer = await here.create("configmaps", config_map("c"))

    assert answer.code == 403
    assert answer.json["message"] == (
        'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1,'
        " used: configmaps=2, limited: configmaps=2"
    )
    await here.used({"configmaps": "2", "count/configmaps": "2"})


async def test_a_deletion_releases_what_was_used(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "1"})
    await here.created("configmaps", config_map("a"))
    await here.driver.delete(here.path("configmaps", "a"))

    await here.used({"configmaps": "0"})

    await here.created("configmaps", config_map("a"))
