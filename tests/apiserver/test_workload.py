"""Where the steps of a request run, and in which order."""

import asyncio
import gc
import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

import apiserver.workload as workload_module
from apimachinery.lenient.young_objects import FrozenObjects
from apimachinery.serialization.media_types import YAML
from apiserver.workload import LIGHT_BYTES, HeavyThread, Workload, without_collection

HEAVY = b"[" + b"0," * LIGHT_BYTES + b"0]"


@pytest.fixture
def thread() -> Iterator[HeavyThread]:
    heavy = HeavyThread()
    yield heavy
    heavy.close()


def heavy_workload(thread: HeavyThread | None, user: str = "a") -> Workload:
    workload = Workload(thread, user)
    workload.add(HEAVY)
    return workload


async def test_small_documents_are_processed_where_they_are(thread: HeavyThread) -> None:
    workload = Workload(thread, "a")
    workload.add(b"{}" * 100)

    assert await workload.run(threading.current_thread) is threading.current_thread()


async def test_a_large_string_is_not_heavy(thread: HeavyThread) -> None:
    workload = Workload(thread, "a")
    workload.add(b'{"data":"%b"}' % (b"x" * 10 * LIGHT_BYTES))

    assert not workload.is_heavy


def test_a_very_large_string_is_heavy_in_yaml() -> None:
    workload = Workload()
    workload.add(b"x: " + b"a " * 50_000, YAML)
    assert not workload.is_heavy

    workload.add(b"x: " + b"a " * 500_000, YAML)

    assert workload.is_heavy


async def test_many_values_are_processed_in_another_thread(thread: HeavyThread) -> None:
    workload = heavy_workload(thread)

    assert workload.is_heavy
    assert await workload.run(threading.current_thread) is not threading.current_thread()


async def test_a_workload_without_a_thread_runs_everything_in_place() -> None:
    assert await heavy_workload(None).run(threading.current_thread) is threading.current_thread()


@pytest.mark.parametrize(
    ("document", "heavy"), [(b"a: &b [c]\nd: *b", True), (b'verbs: ["*"]', False)]
)
def test_a_small_document_with_aliases_is_heavy(document: bytes, heavy: bool) -> None:
    workload = Workload()
    workload.add(document, YAML)

    assert workload.is_heavy is heavy


async def test_the_largest_document_counts(thread: HeavyThread) -> None:
    workload = heavy_workload(thread)
    workload.add(b"{}")

    assert workload.is_heavy


async def test_an_exception_of_a_step_is_raised(thread: HeavyThread) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await heavy_workload(thread).run(int, "x")
    assert await heavy_workload(thread).run(int, "1") == 1


async def test_a_step_has_the_context_of_its_request(thread: HeavyThread) -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    name.set("request")

    assert await heavy_workload(thread).run(name.get) == "request"


async def test_users_take_turns(thread: HeavyThread) -> None:
    """Whoever has many steps waiting does not keep another user's from its turn."""
    done: list[str] = []
    gate = threading.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(heavy_workload(thread, "busy").run(gate.wait))
        await asyncio.sleep(0)
        for user in ("busy", "busy", "busy", "other"):
            tasks.create_task(heavy_workload(thread, user).run(done.append, user))
        await asyncio.sleep(0)
        gate.set()

    assert done == ["busy", "other", "busy", "busy"]


async def test_a_cancelled_step_leaves_the_queue(thread: HeavyThread) -> None:
    gate = threading.Event()
    first = asyncio.create_task(heavy_workload(thread).run(gate.wait))
    await asyncio.sleep(0)
    cancelled = asyncio.create_task(heavy_workload(thread).run(pytest.fail, "it was cancelled"))
    last = asyncio.create_task(heavy_workload(thread).run(int, "1"))
    await asyncio.sleep(0)
    cancelled.cancel()
    gate.set()

    assert await first
    assert await last == 1
    assert cancelled.cancelled()


async def test_a_running_step_that_is_cancelled_keeps_its_thread(thread: HeavyThread) -> None:
    """A step cannot be stopped: the next one starts after its end."""
    gate = threading.Event()
    running = asyncio.create_task(heavy_workload(thread).run(gate.wait))
    await asyncio.sleep(0)
    after = asyncio.create_task(heavy_workload(thread).run(gate.is_set))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    gate.set()

    assert await after
    assert running.cancelled()


async def test_a_turn_that_nobody_takes_passes_on(thread: HeavyThread) -> None:
    """The request may be cancelled at the very moment it is its turn."""
    gate = threading.Event()
    running = asyncio.create_task(heavy_workload(thread).run(gate.wait))
    await asyncio.sleep(0)
    unlucky = asyncio.create_task(heavy_workload(thread).run(pytest.fail, "it was cancelled"))
    after = asyncio.create_task(heavy_workload(thread).run(int, "1"))
    await asyncio.sleep(0)
    thread._waiting["a"][0].add_done_callback(lambda _: unlucky.cancel())
    gate.set()

    assert await after == 1
    assert await running
    await asyncio.gather(unlucky, return_exceptions=True)
    assert unlucky.cancelled()


async def test_after_its_end_steps_run_where_they_are_called(thread: HeavyThread) -> None:
    hold = threading.Event()
    running = asyncio.create_task(thread.run("eve", hold.wait))
    waiting = [asyncio.create_task(thread.run("eve", threading.get_ident)) for _ in range(3)]
    await asyncio.sleep(0)

    thread.close()
    hold.set()

    assert await running
    assert await asyncio.gather(*waiting) == [threading.get_ident()] * 3
    assert await thread.run("eve", threading.get_ident) == threading.get_ident()


def test_frozen_objects_stay_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker freezes its cache, so that no collection visits it."""
    monkeypatch.setattr(workload_module, "FROZEN_OBJECTS", FrozenObjects())
    gc.freeze()
    try:
        assert without_collection(lambda: 1) == 1
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_nothing_is_frozen_in_a_process_without_frozen_objects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workload_module, "FROZEN_OBJECTS", FrozenObjects())
    gc.unfreeze()

    without_collection(lambda: [[] for _ in range(1000)])

    assert gc.get_freeze_count() == 0
    assert gc.isenabled()
