"""Request bodies: what is read, for how long, and how much of it is in memory."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from apimachinery.errors import APIError, RequestEntityTooLarge
from apiserver.http.concurrency import Overloaded
from apiserver.http.request_bodies import BodyReader, Disconnected, RequestBodies
from apiserver.http.request_limits import Limits

LIMITS = Limits(
    body_bytes=100, body_seconds=0.05, body_progress=10, all_bodies=200, user_bodies=120
)


def parts(*sent: bytes, ends: bool = True) -> Callable[[], Any]:
    """A client that sends these parts, then ends its body, or stalls."""
    left = list(sent)

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.get_running_loop().create_future()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left) or not ends}

    return receive


async def test_parts_are_joined_and_counted_until_they_are_released() -> None:
    bodies = RequestBodies(LIMITS)
    reader = BodyReader(bodies, "ann")

    body = await reader.read(parts(b"one ", b"two"))

    assert (body, bodies.size) == (b"one two", 7)
    reader.release()
    reader.release()
    assert bodies.size == 0


async def test_a_body_without_bytes_takes_no_memory() -> None:
    bodies = RequestBodies(LIMITS)
    reader = BodyReader(bodies, "ann")

    assert await reader.read(parts(b"")) == b""
    reader.release()
    assert bodies.size == 0


async def test_a_body_is_refused_as_soon_as_it_is_too_large() -> None:
    reader = BodyReader(RequestBodies(LIMITS), "ann")

    with pytest.raises(RequestEntityTooLarge):
        await reader.read(parts(b"x" * 60, b"x" * 60, ends=False))


async def test_a_body_that_stalls_is_given_up() -> None:
    reader = BodyReader(RequestBodies(LIMITS), "ann")

    with pytest.raises(APIError) as caught:
        await reader.read(parts(b"x" * 5, ends=False))

    assert caught.value.code == 408


async def test_a_body_that_progresses_has_time() -> None:
    """Ten more bytes postpone the deadline, fewer do not."""
    reader = BodyReader(RequestBodies(LIMITS), "ann")
    sent = parts(b"x" * 10, b"x" * 5, b"x" * 5, b"x")
    deadlines: list[float] = []

    async def receive() -> Any:
        assert reader._deadline is not None
        deadlines.append(reader._deadline.at)
        return await sent()

    await reader.read(receive)

    first, second, third, last = deadlines
    assert first < second == third < last


async def test_a_client_that_leaves_gets_no_answer() -> None:
    async def gone() -> Any:
        return {"type": "http.disconnect"}

    with pytest.raises(Disconnected):
        await BodyReader(RequestBodies(LIMITS), "ann").read(gone)


async def test_a_user_has_a_share_of_the_memory() -> None:
    bodies = RequestBodies(LIMITS)
    await BodyReader(bodies, "ann").read(parts(b"x" * 90))

    with pytest.raises(Overloaded):
        await BodyReader(bodies, "ann").read(parts(b"x" * 40))
    assert len(await BodyReader(bodies, "bob").read(parts(b"x" * 90))) == 90


async def test_the_user_with_the_most_gives_way_to_others() -> None:
    bodies = RequestBodies(LIMITS)
    finished = BodyReader(bodies, "ann")
    await finished.read(parts(b"x" * 60))
    unfinished = BodyReader(bodies, "ann")
    reading = asyncio.create_task(unfinished.read(parts(b"x" * 50, ends=False)))
    await asyncio.sleep(0)
    await BodyReader(bodies, "bob").read(parts(b"x" * 60))
    assert bodies.size == 170

    body = await BodyReader(bodies, "carl").read(parts(b"x" * 60))

    assert len(body) == 60
    with pytest.raises(Overloaded):
        await reading
    assert bodies.size == 180


async def test_nothing_is_evicted_for_the_user_with_the_most() -> None:
    bodies = RequestBodies(Limits(all_bodies=100, user_bodies=100))
    await BodyReader(bodies, "ann").read(parts(b"x" * 60))
    await BodyReader(bodies, "bob").read(parts(b"x" * 30))

    with pytest.raises(Overloaded):
        await BodyReader(bodies, "ann").read(parts(b"x" * 20))
