"""InformerFactory: the informers of a program, one for each collection, however many want it.

    async with InformerFactory(client) as informers:
        gadgets = informers.of(GadgetV1)
        await informers.wait_synced(timeout=30)
        gadgets.lister.namespace("default").get("a")

Informers are shared, so whoever asks for the same class and the same selection gets the same one.
They run in the factory's task group: one that fails ends the block with its error.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, Self, TypeVar, cast

from apimachinery.meta.types import Object, PartialObjectMetadata
from apimachinery.meta.unstructured import Unstructured
from apimachinery.resources import guess_plural
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionKind
from apimachinery.scheme import NotRegistered, Scheme
from client.cache.deltas import Transform
from client.informer.informer import InformerOptions, SharedInformer
from client.informer.mutation_detector import MutationDetector, is_wanted
from client.interface import Fields, Labels, ResourceClient
from client.list_options import format_field_selector, format_label_selector
from client.runtime.background import within
from client.runtime.clock import Clock, SystemClock
from client.transport.request import ALL_NAMESPACES

T = TypeVar("T", bound=Object)


class InformerClient(Protocol):
    """What a factory needs of a client."""

    scheme: Scheme

    def of(self, cls: type[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> ResourceClient[Unstructured]: ...


class SyncTimeout(TimeoutError):
    """Some caches were not filled in time; the message names them."""


class _Choice(NamedTuple):
    """What makes an informer another one than the next."""

    what: type[Object] | GroupVersionKind
    form: type[Object]
    namespace: str
    labels: str
    fields: str


class InformerFactory:
    """Makes informers, starts them, and ends them at the end of its block."""

    def __init__(
        self,
        client: InformerClient,
        *,
        namespace: str = ALL_NAMESPACES,
        transform: Transform[Any] | None = None,
        options: InformerOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        """*namespace* and *transform* are for informers that are not told otherwise."""
        self._client = client
        self._namespace = namespace
        self._transform = transform
        self._options = options or InformerOptions()
        self._clock = clock or SystemClock()
        self._informers: dict[_Choice, SharedInformer[Any]] = {}
        self._transforms: dict[_Choice, Transform[Any] | None] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._running: dict[_Choice, asyncio.Task[None]] = {}

    def of(
        self,
        cls: type[T],
        *,
        namespace: str | None = None,
        labels: Labels = "",
        fields: Fields = "",
        transform: Transform[T] | None = None,
    ) -> SharedInformer[T]:
        """The informer of the objects of a class, all of them or those selected.

        It does nothing until `start` or `wait_synced`.
        """
        where = self._namespace if namespace is None else namespace
        choice = _Choice(
            cls, cls, where, format_label_selector(labels), format_field_selector(fields)
        )
        return self._shared(
            choice,
            transform,
            lambda: self._client.of(cls, namespace=where),
            resource=self._resource_of(cls),
        )

    def metadata_of(
        self,
        cls: type[Object],
        *,
        namespace: str | None = None,
        labels: Labels = "",
        fields: Fields = "",
    ) -> SharedInformer[PartialObjectMetadata]:
        """The informer of the metadata only of the objects of a class."""
        where = self._namespace if namespace is None else namespace
        form = PartialObjectMetadata
        choice = _Choice(
            cls, form, where, format_label_selector(labels), format_field_selector(fields)
        )
        return self._shared(
            choice,
            None,
            lambda: self._client.of(cls, namespace=where).metadata,
            resource=self._resource_of(cls),
        )

    def kind(
        self,
        kind: str,
        api_version: str,
        *,
        namespace: str | None = None,
        labels: Labels = "",
        fields: Fields = "",
        transform: Transform[Unstructured] | None = None,
    ) -> SharedInformer[Unstructured]:
        """The informer of a kind for which there is no class."""
        where = self._namespace if namespace is None else namespace
        wanted = GroupVersion.parse(api_version).with_kind(kind)
        choice = _Choice(
            wanted,
            Unstructured,
            where,
            format_label_selector(labels),
            format_field_selector(fields),
        )
        return self._shared(
            choice,
            transform,
            lambda: self._client.kind(kind, api_version, namespace=where),
            resource=GroupResource(wanted.group, guess_plural(kind)),
        )

    def start(self) -> None:
        """Start the informers that were made since the last time."""
        if self._tasks is None:
            raise RuntimeError("an InformerFactory works inside its `async with` block only")
        for choice, informer in self._informers.items():
            if choice not in self._running and not informer.stopped:
                self._running[choice] = self._tasks.create_task(informer.run(), name=informer.name)

    async def wait_synced(self, timeout: float | None = None) -> None:
        """Start what is not started, and return when all caches have their first state.

        SyncTimeout after *timeout* seconds, with the names of those that have not.
        """
        self.start()
        try:
            await within(self._clock, timeout, self._all_synced())
        except TimeoutError:
            missing = sorted(i.name for i in self._informers.values() if not i.has_synced)
            raise SyncTimeout(f"not synced within {timeout:g}s: {', '.join(missing)}") from None

    async def shutdown(self) -> None:
        """Stop every informer and return when all have ended."""
        for informer in self._informers.values():
            informer.stop()
        if self._running:
            await asyncio.wait(self._running.values())

    async def __aenter__(self) -> Self:
        self._tasks = await asyncio.TaskGroup().__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None
        for informer in self._informers.values():
            informer.stop()
        try:
            await tasks.__aexit__(*raised)
        except BaseExceptionGroup as group:
            # Whoever writes the block expects the error that it or an informer raised.
            raise group.exceptions[0] from None

    async def _all_synced(self) -> None:
        for informer in [*self._informers.values()]:
            await informer.wait_synced()

    def _shared(
        self,
        choice: _Choice,
        transform: Transform[T] | None,
        find: Callable[[], ResourceClient[T]],
        *,
        resource: GroupResource,
    ) -> SharedInformer[T]:
        found = self._informers.get(choice)
        if found is not None:
            if transform is not None and transform is not self._transforms[choice]:
                raise ValueError(f"{found.name} is shared and has another transform already")
            return cast(SharedInformer[T], found)
        chosen = transform if transform is not None else self._transform
        made = SharedInformer(
            find().list_watch(labels=choice.labels, fields=choice.fields),
            resource=resource,
            expected=cast(type[T], choice.form),
            kind=choice.what if isinstance(choice.what, GroupVersionKind) else None,
            transform=chosen,
            options=self._options_of_one(),
            clock=self._clock,
        )
        self._informers[choice] = made
        self._transforms[choice] = chosen
        return made

    def _options_of_one(self) -> InformerOptions:
        if self._options.detector is not None or not is_wanted():
            return self._options
        return replace(self._options, detector=MutationDetector(self._clock))

    def _resource_of(self, cls: type[Object]) -> GroupResource:
        """What the objects are called in errors; nothing is asked of the server for that."""
        try:
            kind = self._client.scheme.kind_of(cls)
        except NotRegistered:
            return GroupResource("", guess_plural(cls.__kind__))
        return GroupResource(kind.group, guess_plural(kind.kind))
