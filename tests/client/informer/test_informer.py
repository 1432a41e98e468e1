"""SharedInformer: its life, and how one waits for what it shows."""

import asyncio

import pytest

from client.informer import IndexFailed, InformerStopped, InvalidResourceVersion
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.informers import Notes, informer_of
from tests.client.informer.server import Gadget, Server


async def test_an_informer_runs_once(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    informer = informer_of(server, clock)
    background(informer.run())
    await settle()

    await informer.run()

    assert "already started" in caplog.text
    assert informer.running
    assert len(server.watches) == 1


async def test_waiting_for_sync_has_an_end(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    waiting = asyncio.ensure_future(informer.wait_synced(timeout=30))
    await clock.advance(30)
    with pytest.raises(TimeoutError):
        await waiting

    endless = asyncio.ensure_future(informer.wait_version("900"))
    run = background(informer.run())
    await settle()
    informer.stop()
    await run
    with pytest.raises(InformerStopped):
        await endless


@pytest.mark.parametrize("in_order", [True, False])
async def test_one_can_wait_until_the_cache_shows_ones_own_write(
    in_order: bool, server: Server, clock: FakeClock, background: Background
) -> None:
    """Versions are compared as numbers: 1000 is after 999."""
    server.revision = 998
    informer = informer_of(server, clock, in_order=in_order)
    background(informer.run())
    await informer.wait_synced()
    assert informer.resource_version == "998"

    written = server.put("a")
    await informer.wait_version(written.metadata.resource_version)
    assert informer.lister.namespace("default").get("a") == written

    waiting = background(informer.wait_version("1005"))
    server.put("a")
    await settle()
    assert not waiting.done()
    server.revision = 1010
    server.bookmark()
    await waiting
    assert informer.resource_version == "1010"


async def test_waiting_for_a_version_can_time_out_and_must_make_sense(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    background(informer.run())
    with pytest.raises(InvalidResourceVersion):
        await informer.wait_version("0")

    waiting = asyncio.ensure_future(informer.wait_version("900", timeout=5))
    await clock.advance(5)

    with pytest.raises(TimeoutError):
        await waiting


async def test_a_failing_index_function_ends_the_informer_after_the_rest_was_told(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    informer.add_index("share", lambda obj: [str(100 // obj.spec.size)])
    run = asyncio.ensure_future(informer.run())
    await settle()

    server.put("bad", size=0)
    server.put("good", size=1)
    with pytest.raises(IndexFailed, match="default/bad"):
        await run

    assert informer.stopped
    assert informer.store.keys() == ["default/good"]


async def test_stopping_is_prompt_whatever_goes_on(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """A stuck handler, a backoff, an open stream: nothing delays it, and nothing is left behind."""
    for name in "ab":
        server.put(name)
    informer = informer_of(server, clock)

    async def stuck(obj: Gadget) -> None:
        await asyncio.Event().wait()

    informer.on_add(stuck)
    run = background(informer.run())
    await settle()
    stream = server.open[0]

    informer.stop()
    informer.stop()
    await asyncio.wait_for(run, 5)

    assert informer.stopped
    assert stream.stopped
    assert [task for task in asyncio.all_tasks() if "informer" in task.get_name()] == []


async def test_cancelling_ends_everything_too(server: Server, clock: FakeClock) -> None:
    informer = informer_of(server, clock)
    informer.add_handler(Notes())
    run = asyncio.ensure_future(informer.run())
    await settle()

    run.cancel()
    await asyncio.gather(run, return_exceptions=True)

    assert run.cancelled()
    assert informer.stopped
    assert server.streams[0].stopped


@pytest.mark.parametrize("in_order", [True, False])
async def test_the_cache_knows_its_version_after_every_change(
    in_order: bool, server: Server, clock: FakeClock, background: Background
) -> None:
    server.put("a")
    informer = informer_of(server, clock, in_order=in_order)
    background(informer.run())
    await settle()
    versions = [informer.resource_version]

    for change in (server.put, server.delete):
        change("a")
        await settle()
        versions.append(informer.resource_version)

    assert versions == ["101", "102", "103"]
    assert informer.last_sync_resource_version == "103"


async def test_an_index_can_be_added_while_it_runs(
    server: Server, clock: FakeClock, background: Background
) -> None:
    server.put("a", node="n1")
    informer = informer_of(server, clock)
    background(informer.run())
    await informer.wait_synced()

    informer.add_index("node", lambda obj: [obj.spec.node])
    server.put("b", node="n1")
    await settle()

    found = informer.lister.by_index("node", "n1")
    assert [obj.metadata.name for obj in found] == ["a", "b"]
