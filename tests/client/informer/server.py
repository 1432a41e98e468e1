"""A scripted server: a collection with revisions and history, and everything that can go wrong."""

import asyncio
from collections import deque
from collections.abc import Callable

from apimachinery.errors import APIError, Expired, Invalid, Timeout
from apimachinery.meta.options import ListOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model
from apimachinery.watch import INITIAL_EVENTS_END, EventType, ObjectEvent
from client.cache.keys import join_key, object_key
from client.paging import Page


class GadgetSpec(Model):
    size: int = 0
    node: str = ""


class Gadget(Object):
    """What the server has."""

    spec: GadgetSpec = GadgetSpec()


def gadget(
    name: str,
    *,
    namespace: str = "default",
    version: int | str = "",
    size: int = 0,
    node: str = "",
    labels: dict[str, str] | None = None,
) -> Gadget:
    metadata = ObjectMeta(
        name=name, namespace=namespace, resource_version=str(version), labels=labels or {}
    )
    return Gadget(metadata=metadata, spec=GadgetSpec(size=size, node=node))


class Stream:
    """One open watch."""

    def __init__(self) -> None:
        self.events: deque[ObjectEvent[Gadget | Status]] = deque()
        self.ended = False
        self.stopped = False
        self.pause: Callable[[], int] = lambda: 0
        """How many turns of the event loop the next event takes to arrive."""
        self._wake = asyncio.Event()

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> ObjectEvent[Gadget | Status]:
        for _ in range(self.pause()):
            await asyncio.sleep(0)
        while not self.events:
            if self.ended or self.stopped:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self.events.popleft()

    def stop(self) -> None:
        self.stopped = True
        self._wake.set()

    def send(self, kind: EventType, obj: Gadget | Status) -> None:
        self.events.append(ObjectEvent(kind, obj))
        self._wake.set()

    def end(self, *, losing: bool = False) -> None:
        """End the stream after what is on its way, or *losing* that."""
        if losing:
            self.events.clear()
        self.ended = True
        self._wake.set()

    def fail(self, error: APIError) -> None:
        self.send(EventType.ERROR, error.status)
        self.end()


class Server:
    """A collection of gadgets, as a ListerWatcher."""

    def __init__(self) -> None:
        self.revision = 100
        self.objects: dict[str, Gadget] = {}
        self.history: list[tuple[int, EventType, Gadget]] = []
        self.compacted = 0
        self.streams: list[Stream] = []
        self.lists: list[ListOptions] = []
        self.watches: list[ListOptions] = []
        self.list_errors: deque[Exception] = deque()
        self.watch_errors: deque[Exception] = deque()
        self.streams_initial_state = True
        self.pages_any_state = False
        """Whether a list of any state is paged, as by a server without a cache."""
        self.pause: Callable[[], int] = lambda: 0

    # What its users do

    def put(
        self,
        name: str,
        *,
        namespace: str = "default",
        size: int = 0,
        node: str = "",
        labels: dict[str, str] | None = None,
    ) -> Gadget:
        key = join_key(namespace, name)
        kind = EventType.MODIFIED if key in self.objects else EventType.ADDED
        self.revision += 1
        made = gadget(
            name, namespace=namespace, version=self.revision, size=size, node=node, labels=labels
        )
        self.objects[key] = made
        self._happened(kind, made)
        return made

    def delete(self, name: str, *, namespace: str = "default") -> Gadget:
        self.revision += 1
        gone = self.objects.pop(join_key(namespace, name)).deep_copy()
        gone.metadata.resource_version = str(self.revision)
        self._happened(EventType.DELETED, gone)
        return gone

    # What its operators do

    @property
    def open(self) -> list[Stream]:
        return [stream for stream in self.streams if not stream.ended and not stream.stopped]

    def bookmark(self) -> None:
        for stream in self.open:
            stream.send(EventType.BOOKMARK, _bookmark(self.revision))

    def compact(self) -> None:
        """Forget the past: only a watch from now on is possible."""
        self.compacted = self.revision
        self.history.clear()

    def expire_streams(self) -> None:
        for stream in self.open:
            stream.fail(Expired("too old resource version"))

    def end_streams(self, *, losing: bool = False) -> None:
        for stream in self.open:
            stream.end(losing=losing)

    # What a client asks for

    async def list(self, options: ListOptions) -> Page[Gadget]:
        self.lists.append(options)
        for _ in range(self.pause()):
            await asyncio.sleep(0)
        if self.list_errors:
            raise self.list_errors.popleft()
        asked = options.resource_version
        if asked not in ("", "0") and int(asked) > self.revision:
            raise Timeout.future_revision(int(asked), self.revision)
        start = ""
        if options.continue_:
            revision, _, start = options.continue_.partition(":")
            if int(revision) != self.revision:
                raise Expired("The provided continue parameter is too old")
        found = [self.objects[key] for key in sorted(self.objects) if key > start]
        limit = options.limit
        if asked == "0" and not self.pages_any_state:
            limit = 0
        version = str(self.revision)
        if limit and len(found) > limit:
            token = f"{version}:{object_key(found[limit - 1])}"
            return Page(_copies(found[:limit]), version, token)
        return Page(_copies(found), version)

    async def watch(self, options: ListOptions) -> Stream:
        self.watches.append(options)
        for _ in range(self.pause()):
            await asyncio.sleep(0)
        if self.watch_errors:
            raise self.watch_errors.popleft()
        if options.send_initial_events and not self.streams_initial_state:
            raise Invalid("sendInitialEvents is forbidden for watch")
        stream = Stream()
        stream.pause = self.pause
        self.streams = [*self.open, stream]
        self._begin(stream, options)
        return stream

    def _begin(self, stream: Stream, options: ListOptions) -> None:
        asked = options.resource_version
        if options.send_initial_events and asked and int(asked) > self.revision:
            stream.fail(Timeout.future_revision(int(asked), self.revision))
        elif options.send_initial_events or asked in ("", "0"):
            for key in sorted(self.objects):
                stream.send(EventType.ADDED, self.objects[key].deep_copy())
            if options.send_initial_events:
                stream.send(EventType.BOOKMARK, _bookmark(self.revision, initial=True))
        elif int(asked) < self.compacted:
            stream.fail(Expired(f"too old resource version: {asked} ({self.compacted})"))
        else:
            for revision, kind, obj in self.history:
                if revision > int(asked):
                    stream.send(kind, obj.deep_copy())

    def _happened(self, kind: EventType, obj: Gadget) -> None:
        self.history.append((self.revision, kind, obj))
        for stream in self.open:
            stream.send(kind, obj.deep_copy())


def _copies(objects: list[Gadget]) -> list[Gadget]:
    return [obj.deep_copy() for obj in objects]


def _bookmark(revision: int, *, initial: bool = False) -> Gadget:
    made = Gadget(metadata=ObjectMeta(resource_version=str(revision)))
    if initial:
        made.metadata.annotations[INITIAL_EVENTS_END] = "true"
    return made
