"""Events: telling people what happened to an object, without waiting for the server.

What is told waits in a bounded queue and is written by one task; when the queue is full, further
events are dropped and counted, because a controller's work matters more than its words.
"""

import asyncio
import logging
import random
import socket
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from apimachinery.errors import AlreadyExists, APIError, NotFound
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.scalars.time import format_time
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import NotRegistered
from client.events.correlation import Correlated, Correlator, EventReporter, EventSubject, Happening
from client.interface import ResourceClient
from client.runtime.clock import Clock
from client.transport.request import InvalidRequest
from client.transport.transport import TransportError

log = logging.getLogger("apimachinery.controller.events")

NORMAL: Final = "Normal"
WARNING: Final = "Warning"
QUEUE_SIZE: Final = 1000
TRIES: Final = 12
RETRY_WAIT: Final = 10.0


class EventClient(Protocol):
    """What a recorder needs of a client."""

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> ResourceClient[Unstructured]: ...


class EventRecorder:
    """Writes events as one component."""

    def __init__(
        self,
        client: EventClient,
        component: str,
        *,
        kind_of: Callable[[type[Object]], GroupVersionKind],
        clock: Clock,
        host: str = "",
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.dropped = 0
        """How many events found no room in the queue."""
        self._client = client
        self._source = EventReporter(component, host or socket.gethostname())
        self._kind_of = kind_of
        self._clock = clock
        self._chance = chance
        self._correlator = Correlator(clock)
        self._waiting: deque[Happening] = deque()
        self._arrived = asyncio.Event()
        self._writing = False
        self._last_stamp = 0

    @property
    def idle(self) -> bool:
        """Whether everything that was told is written or given up."""
        return not self._waiting and not self._writing

    def event(self, about: Object, type: str, reason: str, message: str) -> None:  # noqa: A002
        """Tell of something that happened to *about*; *type* is Normal or Warning."""
        if type not in (NORMAL, WARNING):
            log.error("unsupported event type: %r (%s: %s)", type, reason, message)
            return
        if len(self._waiting) >= QUEUE_SIZE:
            self.dropped += 1
            log.warning("too many events wait to be written; dropped %s: %s", reason, message)
            return
        subject = self._subject(about)
        self._waiting.append(
            Happening(
                subject=subject,
                type=type,
                reason=reason,
                message=message,
                source=self._source,
                time=self._clock.now(),
                name=self._new_name(subject),
            )
        )
        self._arrived.set()

    async def run(self) -> None:
        """Write what comes until cancelled."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write everything that waits."""
        while self._waiting:
            self._writing = True
            try:
                await self._record(self._waiting.popleft())
            finally:
                self._writing = False

    def _subject(self, about: Object) -> EventSubject:
        meta = about.metadata
        kind, api_version = about.kind, about.api_version
        if not kind or not api_version:
            try:
                found = self._kind_of(type(about))
                kind, api_version = found.kind, found.api_version
            except NotRegistered:
                kind = kind or type(about).__kind__
        return EventSubject(
            api_version, kind, meta.namespace, meta.name, meta.uid, meta.resource_version
        )

    def _new_name(self, subject: EventSubject) -> str:
        # Two in one moment of the clock must not have one name.
        stamp = int(self._clock.now().timestamp() * 1e9)
        self._last_stamp = max(stamp, self._last_stamp + 1)
        return f"{subject.name}.{self._last_stamp:x}"

    async def _record(self, happening: Happening) -> None:
        correlated = self._correlator.correlate(
            happening, rename=lambda: self._new_name(happening.subject)
        )
        if correlated is None:
            return
        for attempt in range(TRIES):
            try:
                await self._write(correlated)
                return
            except APIError as error:
                # A namespace that is going away takes no events, and nobody will miss them.
                level = logging.DEBUG if isinstance(error, AlreadyExists) else logging.WARNING
                log.log(level, "the server rejected an event (not tried again): %s", error)
                return
            except InvalidRequest as error:
                log.error("an event cannot be written: %s", error)
                return
            except TransportError as error:
                log.warning("an event could not be written (attempt %d): %s", attempt + 1, error)
            # The first wait is by chance: not all programs shall come back together.
            share = self._chance() if attempt == 0 else 1.0
            await self._clock.sleep(RETRY_WAIT * share)
        log.error("an event could not be written (no more attempts): %s", happening.message)

    async def _write(self, correlated: Correlated) -> None:
        happening = correlated.happening
        events = self._client.kind("Event", "v1", namespace=happening.namespace)
        if correlated.is_repetition:
            try:
                await events.patch(happening.name, _repetition(happening))
                self._correlator.told(correlated)
                return
            except NotFound:
                log.debug("event %s has been forgotten: it is created again", happening.name)
        await events.create(_document(happening))
        self._correlator.told(correlated)


def _repetition(happening: Happening) -> Mapping[str, Any]:
    return {
        "count": happening.count,
        "lastTimestamp": format_time(happening.time),
        "message": happening.message,
    }


def _document(happening: Happening) -> Mapping[str, Any]:
    subject = happening.subject
    about = {
        "apiVersion": subject.api_version,
        "kind": subject.kind,
        "namespace": subject.namespace,
        "name": subject.name,
        "uid": subject.uid,
        "resourceVersion": subject.resource_version,
        "fieldPath": subject.field_path,
    }
    return {
        "metadata": {"name": happening.name, "namespace": happening.namespace},
        "involvedObject": {name: value for name, value in about.items() if value},
        "reason": happening.reason,
        "message": happening.message,
        "type": happening.type,
        "source": {"component": happening.source.component},
        "reportingComponent": happening.source.component,
        "reportingInstance": happening.source.host,
        "firstTimestamp": format_time(happening.first_time or happening.time),
        "lastTimestamp": format_time(happening.time),
        "count": happening.count,
    }
