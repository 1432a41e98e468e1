"""InformerFactory: the informers of a program, one for each collection.

    async with InformerFactory(client) as informers:
        gadgets = informers.of(GadgetV1)
        await informers.wait_synced(timeout=30)
        gadgets.lister.namespace("default").get("a")

Informers are shared: the same class and the same selection return the same informer. They run in
the factory's task group: an informer that fails ends the block with its error.
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
from client.informer.mutation_detector import MutationDetector, is_enabled
from client.interface import Fields, Labels, ResourceClient
from client.list_options import format_field_selector, format_label_selector
from client.runtime.background import within
from client.runtime.clock import Clock, SystemClock
from client.transport.request import ALL_NAMESPACES

T = TypeVar("T", bound=Object)


class InformerClient(Protocol):
    """The part of a client that a factory uses."""

    scheme: Scheme

    def of(self, cls: type[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> ResourceClient[Unstructured]: ...


class SyncTimeout(TimeoutError):
    """Some caches did not sync in time; the message names them."""


class _InformerKey(NamedTuple):
    """The parameters by which informers are shared."""

    source: type[Object] | GroupVersionKind
    cls: type[Object]
    """The class of the cached objects."""
    namespace: str
    labels: str
    fields: str


class InformerFactory:
    """Creates and starts informers, and stops them at the end of its `async with` block."""

    def __init__(
        self,
        client: InformerClient,
        *,
        namespace: str = ALL_NAMESPACES,
        transform: Transform[Any] | None = None,
        options: InformerOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        """*namespace* and *transform* are the defaults of the informers."""
        self._client = client
        self._namespace = namespace
        self._transform = transform
        self._options = options or InformerOptions()
        self._clock = clock or SystemClock()
        self._informers: dict[_InformerKey, SharedInformer[Any]] = {}
        self._transforms: dict[_InformerKey, Transform[Any] | None] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._running: dict[_InformerKey, asyncio.Task[None]] = {}

    def of(
        self,
        cls: type[T],
        *,
        namespace: str | None = None,
        labels: Labels = "",
        fields: Fields = "",
        transform: Transform[T] | None = None,
    ) -> SharedInformer[T]:
        """Return the informer of a class, for all objects or for the selected ones.

        It does not run before `start` or `wait_synced`. Raises ValueError if the informer is shared
        and has another *transform*.
        """
        scope = self._namespace if namespace is None else namespace
        key = _InformerKey(
            cls, cls, scope, format_label_selector(labels), format_field_selector(fields)
        )
        return self._get_or_create(
            key,
            transform,
            lambda: self._client.of(cls, namespace=scope),
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
        """Return an informer that caches only the metadata of the objects of a class."""
        scope = self._namespace if namespace is None else namespace
        key = _InformerKey(
            cls,
            PartialObjectMetadata,
            scope,
            format_label_selector(labels),
            format_field_selector(fields),
        )
        return self._get_or_create(
            key,
            None,
            lambda: self._client.of(cls, namespace=scope).metadata,
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
        """Return the informer of a kind that has no class."""
        scope = self._namespace if namespace is None else namespace
        gvk = GroupVersion.parse(api_version).with_kind(kind)
        key = _InformerKey(
            gvk, Unstructured, scope, format_label_selector(labels), format_field_selector(fields)
        )
        return self._get_or_create(
            key,
            transform,
            lambda: self._client.kind(kind, api_version, namespace=scope),
            resource=GroupResource(gvk.group, guess_plural(kind)),
        )

    def start(self) -> None:
        """Start the informers that do not run yet."""
        if self._tasks is None:
            raise RuntimeError("an InformerFactory can only start inside its `async with` block")
        for key, informer in self._informers.items():
            if key not in self._running and not informer.stopped:
                self._running[key] = self._tasks.create_task(informer.run(), name=informer.name)

    async def wait_synced(self, timeout: float | None = None) -> None:
        """Start the informers that do not run yet, and wait until all caches have synced.

        Raises SyncTimeout after *timeout* seconds.
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
            # The caller expects the error that the block or an informer raised, not a group.
            raise group.exceptions[0] from None

    async def _all_synced(self) -> None:
        for informer in [*self._informers.values()]:
            await informer.wait_synced()

    def _get_or_create(
        self,
        key: _InformerKey,
        transform: Transform[T] | None,
        bind_client: Callable[[], ResourceClient[T]],
        *,
        resource: GroupResource,
    ) -> SharedInformer[T]:
        shared = self._informers.get(key)
        if shared is not None:
            if transform is not None and transform is not self._transforms[key]:
                raise ValueError(f"{shared.name} is shared and already has another transform")
            return cast(SharedInformer[T], shared)
        transform = transform if transform is not None else self._transform
        informer = SharedInformer(
            bind_client().list_watch(labels=key.labels, fields=key.fields),
            resource=resource,
            expected=cast(type[T], key.cls),
            kind=key.source if isinstance(key.source, GroupVersionKind) else None,
            transform=transform,
            options=self._informer_options(),
            clock=self._clock,
        )
        self._informers[key] = informer
        self._transforms[key] = transform
        return informer

    def _informer_options(self) -> InformerOptions:
        # One detector for each informer: a modified object ends the informer that cached it.
        if self._options.detector is not None or not is_enabled():
            return self._options
        return replace(self._options, detector=MutationDetector(self._clock))

    def _resource_of(self, cls: type[Object]) -> GroupResource:
        """Return the resource to name in errors, guessed from the kind instead of discovered."""
        try:
            kind = self._client.scheme.kind_of(cls)
        except NotRegistered:
            return GroupResource("", guess_plural(cls.__kind__))
        return GroupResource(kind.group, guess_plural(kind.kind))
