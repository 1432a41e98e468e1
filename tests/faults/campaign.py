"""The fuzz campaign: very many of the worst requests against a whole application in this process.

    python -m tests.faults.campaign --seed 1 --requests 500000
    python -m tests.faults.campaign --seed 1 --first 1234 --requests 1

It prints one JSON object at the end: how often each code was answered, requests per second, the
memory after the warm-up and at the end, and the requests whose answer was wrong. The second form
sends one request again that failed; objects that earlier requests created are missing then, and an
earlier `--first` creates them.
"""

import argparse
import asyncio
import ctypes
import gc
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop

from apis.gadgets.install import GADGETS
from apis.kubernetes import KUBERNETES
from client.testing.app_server import InMemoryServer
from tests.apiserver.extensions.definitions import DEFINITIONS as DEFINITIONS_PATH
from tests.apiserver.extensions.definitions import Defined
from tests.apiserver.http.driver import Driver
from tests.faults.asgi_requests import ask, wrong
from tests.faults.hostile import Request
from tests.faults.worst_definitions import DEFINITIONS
from tests.faults.worst_requests import Targets

SERVICE_RANGES: Final = "/apis/networking.k8s.io/v1/servicecidrs"
TIDY: Final = 5_000
"""Requests after which everything that was created is removed."""
SAMPLES: Final = 5
"""Measurements of which the least counts: others include what is about to be freed."""
MOST_FAILURES: Final = 20
MOST_SLOW: Final = 5
REPORT: Final = 60.0
"""Seconds between two lines about the progress."""


@dataclass
class Outcome:
    """What one process of the campaign has seen."""

    seed: int
    requests: int = 0
    seconds: float = 0.0
    codes: dict[int, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """The most processor time that single requests took, in seconds."""
    memory_warm: int = 0
    memory_end: int = 0
    objects_warm: int = 0
    """Python objects that the garbage collector knows: they show a leak that memory hides."""
    objects_end: int = 0


class Tracebacks(logging.Handler):
    """Keeps what the server logs together with a traceback: each is a bug."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self._texts.append(logging.Formatter().format(record)[-2500:])

    def take(self) -> str:
        """What was logged since the last call."""
        texts, self._texts = self._texts, []
        return "\n".join(texts)


class Campaign:
    """Sends the requests of one seed, one after the other, and keeps the store small."""

    def __init__(self, server: InMemoryServer, seed: int) -> None:
        self.outcome = Outcome(seed)
        self.server = server
        self._client = Driver(server.app, authorization=f"Bearer {server.token}")
        self._targets = Targets()
        self._tracebacks = Tracebacks()
        self._kept: set[str] = set()
        """The uids of objects that the server itself has created."""
        self._samples: list[tuple[int, int]] = []
        """The memory and the number of objects each time that everything was removed."""

    async def run(self, first: int, requests: int) -> None:
        """Send that many requests, beginning with the *first*; failures do not end it."""
        logging.getLogger("apiserver").addHandler(self._tracebacks)
        await self.prepare()
        began = reported = time.monotonic()
        for number in range(first, first + requests):
            if self.outcome.requests % TIDY == TIDY - 1:
                await self._tidy()
            await self._send(number)
            if len(self.outcome.failures) >= MOST_FAILURES:
                break
            if time.monotonic() - reported > REPORT:
                reported = time.monotonic()
                print(self._progress(began), file=sys.stderr, flush=True)
        await self._tidy()
        self._compare_samples()
        self.outcome.seconds = time.monotonic() - began

    async def prepare(self) -> None:
        """Define the custom resources, and note what the server itself has created."""
        await self._define()
        await self._tidy()

    async def _send(self, number: int) -> None:
        request = self._targets.request(self.outcome.seed, number)
        sent = Request(**{**vars(request), "headers": list(request.headers)})
        began = time.thread_time()
        try:
            reply = await ask(self.server.app, sent, self.server.token)
        except Exception as error:
            self._fail(number, request, f"{type(error).__name__}: {error}")
            return
        self._note_time(time.thread_time() - began, number, request)
        self.outcome.requests += 1
        codes = self.outcome.codes
        codes[reply.code] = codes.get(reply.code, 0) + 1
        reason = wrong(request, reply)
        if reason is not None:
            self._fail(
                number, request, f"{reason}: {reply.body[:300]!r}\n{self._tracebacks.take()}"
            )
        elif bugs := self._tracebacks.take():
            self._fail(number, request, bugs)

    def _fail(self, number: int, request: Request, reason: str) -> None:
        text = (
            f"--seed {self.outcome.seed} --first {number} --requests 1\n{reason}\n{brief(request)}"
        )
        print(text, file=sys.stderr, flush=True)
        self.outcome.failures.append(text)

    def _note_time(self, seconds: float, number: int, request: Request) -> None:
        slowest = self.outcome.slowest
        if len(slowest) < MOST_SLOW or seconds > slowest[-1][0]:
            slowest.append((round(seconds, 4), f"{number}: {brief(request, 200)}"))
            slowest.sort(reverse=True)
            del slowest[MOST_SLOW:]

    def _progress(self, began: float) -> str:
        outcome = self.outcome
        rate = outcome.requests / (time.monotonic() - began)
        memory = resident() // 2**20
        return f"seed {outcome.seed}: {outcome.requests:,} requests, {rate:.0f}/s, {memory} MiB"

    async def _define(self) -> None:
        """Have the custom resources served, whatever has become of their definitions."""
        for body in DEFINITIONS:
            name = body["metadata"]["name"]
            while (answer := await self._client.post(DEFINITIONS_PATH, body)).code != 201:
                assert answer.code == 409, answer.body
                found = await self._client.get(f"{DEFINITIONS_PATH}/{name}")
                if found.code == 200 and "deletionTimestamp" not in found.json["metadata"]:
                    break
                await asyncio.sleep(0.01)
            await Defined(self._client).until(name, "Established")
        assert (await self._client.get("/apis")).code == 200
        if not self._targets.all:
            self._targets = Targets.of(self.server.app.groups)

    async def _tidy(self) -> None:
        """Remove what was created, and forget the history."""
        for path in {target.everywhere for target in self._targets.all}:
            answer = await self._client.get(path)
            for item in answer.json["items"] if answer.code == 200 else ():
                await self._remove(path, item["metadata"])
        await self._define()
        await self._add_service_range()
        backend = self.server.app.backend
        await backend.compact(await backend.current_revision())
        self._samples.append((resident(), len(gc.get_objects())))

    async def _add_service_range(self) -> None:
        """Offer addresses to services even if the requests have deleted the server's own range."""
        name = f"range-{len(self._samples)}"
        body = {"metadata": {"name": name}, "spec": {"cidrs": ["10.64.0.0/16", "fd00:64::/108"]}}
        await self._client.post(SERVICE_RANGES, body)

    def _compare_samples(self) -> None:
        """Take the memory and the objects after a third of the time, and at the end."""
        outcome, samples = self.outcome, self._samples
        third = len(samples) // 3
        outcome.memory_warm, outcome.objects_warm = map(
            min, zip(*samples[third : third + SAMPLES], strict=True)
        )
        outcome.memory_end, outcome.objects_end = map(min, zip(*samples[-SAMPLES:], strict=True))

    async def _remove(self, path: str, metadata: dict[str, Any]) -> None:
        if "uid" not in metadata or metadata["uid"] in self._kept:
            return  # an object without uid is computed, not stored
        if not self._samples:
            self._kept.add(metadata["uid"])
            return
        root, _, plural = path.rpartition("/")
        namespace = metadata.get("namespace")
        place = f"{root}/namespaces/{namespace}/{plural}" if namespace else path
        url = f"{place}/{metadata['name']}"
        await self._client.delete(f"{url}?propagationPolicy=Background")
        if metadata.get("finalizers"):
            await self._client.patch(url, {"metadata": {"finalizers": None}})


def resident() -> int:
    """The memory of this process, in bytes, without what its allocators could give back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def brief(request: Request, most: int = 1500) -> str:
    """A request in one line that can be read."""
    shown = {
        name: value if len(value) < most else value[:most] for name, value in vars(request).items()
    }
    return str(shown)[: 2 * most]


@asynccontextmanager
async def serving() -> AsyncIterator[InMemoryServer]:
    """A whole server: every group, custom resources, roles and the controllers."""
    server = InMemoryServer((*KUBERNETES, GADGETS))
    await server.app.start()
    try:
        yield server
    finally:
        await server.app.stop()


async def run(seed: int, first: int = 0, *, requests: int) -> Outcome:
    """Run a campaign, or a part of it, against a server of its own."""
    async with serving() as server:
        campaign = Campaign(server, seed)
        await campaign.run(first, requests)
        return campaign.outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--requests", type=int, default=10_000)
    given = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        outcome = runner.run(run(given.seed, given.first, requests=given.requests))
    print(json.dumps(asdict(outcome)))
    sys.exit(1 if outcome.failures else 0)


if __name__ == "__main__":
    main()
