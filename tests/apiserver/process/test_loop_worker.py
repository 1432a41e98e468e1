"""The end of a worker's event loop."""

import asyncio

from apiserver.process.loop_worker import LoopWorker


class Worker(LoopWorker):
    """A worker without gunicorn."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.sockets: list[object] = []
        self.quick_shutdown = True

    async def serve(self) -> None:
        return None


def test_a_task_that_does_not_end_cannot_hold_up_a_quick_stop() -> None:
    worker = Worker()
    released = asyncio.Event()

    async def stay() -> None:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    async def begin() -> None:
        task = asyncio.create_task(stay())
        task.add_done_callback(lambda _: None)
        # Far beyond the time that the worker gives its tasks, so that a broken stop ends as well.
        asyncio.get_running_loop().call_later(20, released.set)
        await asyncio.sleep(0)

    worker.loop.run_until_complete(begin())
    worker._clean_up()

    assert worker.loop.is_closed()
    assert not released.is_set()
