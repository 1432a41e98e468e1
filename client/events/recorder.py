"""EventRecorder: records Events about objects without waiting for the server.

Events are queued and written by one task. The queue is bounded: when it is full, new events are
dropped and counted, because events must not delay a controller.
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
from client.events.correlation import (
    Correlated,
    Correlator,
    EventRecord,
    EventReporter,
    EventSubject,
)
from client.interface import ResourceClient
from client.runtime.clock import Clock
from client.transport.request import InvalidRequest
from client.transport.transport import TransportError

log = logging.getLogger("apimachinery.controller.events")

NORMAL: Final = "Normal"
WARNING: Final = "Warning"
QUEUE_SIZE: Final = 1000
MAX_ATTEMPTS: Final = 12
RETRY_DELAY: Final = 10.0


class EventClient(Protocol):
    """The part of a client that a recorder uses."""

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> ResourceClient[Unstructured]: ...


class EventRecorder:
    """Records the events of one component."""

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
        """The number of events that were dropped because the queue was full."""
        self._client = client
        self._source = EventReporter(component, host or socket.gethostname())
        self._kind_of = kind_of
        self._clock = clock
        self._chance = chance
        self._correlator = Correlator(clock)
        self._pending: deque[EventRecord] = deque()
        self._arrived = asyncio.Event()
        self._writing = False
        self._last_stamp = 0

    @property
    def idle(self) -> bool:
        """Whether every event was written or given up."""
        return not self._pending and not self._writing

    def event(self, about: Object, type: str, reason: str, message: str) -> None:  # noqa: A002
        """Record an event about an object; *type* is Normal or Warning."""
        if type not in (NORMAL, WARNING):
            log.error("unsupported event type: %r (%s: %s)", type, reason, message)
            return
        if len(self._pending) >= QUEUE_SIZE:
            self.dropped += 1
            log.warning("event queue is full, dropped %s: %s", reason, message)
            return
        subject = self._subject(about)
        self._pending.append(
            EventRecord(
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
        """Write events until cancelled."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write all pending events."""
        while self._pending:
            self._writing = True
            try:
                await self._write_with_retries(self._pending.popleft())
            finally:
                self._writing = False

    def _subject(self, about: Object) -> EventSubject:
        meta = about.metadata
        kind, api_version = about.kind, about.api_version
        if not kind or not api_version:
            try:
                gvk = self._kind_of(type(about))
                kind, api_version = gvk.kind, gvk.api_version
            except NotRegistered:
                kind = kind or type(about).__kind__
        return EventSubject(
            api_version, kind, meta.namespace, meta.name, meta.uid, meta.resource_version
        )

    def _new_name(self, subject: EventSubject) -> str:
        # Two events at the same clock reading must have different names.
        stamp = int(self._clock.now().timestamp() * 1e9)
        self._last_stamp = max(stamp, self._last_stamp + 1)
        return f"{subject.name}.{self._last_stamp:x}"

    async def _write_with_retries(self, record: EventRecord) -> None:
        correlated = self._correlator.correlate(
            record, new_name=lambda: self._new_name(record.subject)
        )
        if correlated is None:
            return
        for attempt in range(MAX_ATTEMPTS):
            try:
                await self._write(correlated)
                return
            except APIError as error:
                # Not retried: for example, a terminating namespace accepts no events.
                level = logging.DEBUG if isinstance(error, AlreadyExists) else logging.WARNING
                log.log(level, "the server rejected an event (not retried): %s", error)
                return
            except InvalidRequest as error:
                log.error("invalid event: %s", error)
                return
            except TransportError as error:
                log.warning("failed to write an event (attempt %d): %s", attempt + 1, error)
            # The first delay is random, so that not all programs retry at the same time.
            share = self._chance() if attempt == 0 else 1.0
            await self._clock.sleep(RETRY_DELAY * share)
        log.error("failed to write an event (no more attempts): %s", record.message)

    async def _write(self, correlated: Correlated) -> None:
        record = correlated.record
        events = self._client.kind("Event", "v1", namespace=record.namespace)
        if correlated.is_repetition:
            try:
                await events.patch(record.name, _repetition(record))
                self._correlator.record_written(correlated)
                return
            except NotFound:
                log.debug("event %s no longer exists and is created again", record.name)
        await events.create(_document(record))
        self._correlator.record_written(correlated)


def _repetition(record: EventRecord) -> Mapping[str, Any]:
    return {
        "count": record.count,
        "lastTimestamp": format_time(record.time),
        "message": record.message,
    }


def _document(record: EventRecord) -> Mapping[str, Any]:
    subject = record.subject
    reference = {
        "apiVersion": subject.api_version,
        "kind": subject.kind,
        "namespace": subject.namespace,
        "name": subject.name,
        "uid": subject.uid,
        "resourceVersion": subject.resource_version,
        "fieldPath": subject.field_path,
    }
    return {
        "metadata": {"name": record.name, "namespace": record.namespace},
        "involvedObject": {name: value for name, value in reference.items() if value},
        "reason": record.reason,
        "message": record.message,
        "type": record.type,
        "source": {"component": record.source.component},
        "reportingComponent": record.source.component,
        "reportingInstance": record.source.host,
        "firstTimestamp": format_time(record.first_time or record.time),
        "lastTimestamp": format_time(record.time),
        "count": record.count,
    }
