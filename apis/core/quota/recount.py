"""Recount: compares the use of quotas with the objects that are stored, and corrects it.

Charges go on meanwhile, so a recount does not store what it has counted: it adds the difference to
whatever the use is by then. The difference is exact, because objects and quotas are read from the
cache between two changes, and so are of one revision: an object of a later revision was charged
later, too. A pending charge whose object is among those that were counted is forgotten; one without
an object counts until its writer reports the outcome, or is given up for dead.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any, Final

from apimachinery.errors import APIError, NotFound
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupResource, GroupVersionResource
from apis.core import GROUP
from apis.core.quota.amounts import ZERO, Amounts, add, mask, times
from apis.core.quota.evaluator import Evaluator, FindStore
from apis.core.quota.evaluators import Evaluators
from apis.core.quota.ledger import QUOTAS
from apis.core.quota.measure import Measure, requirements
from apis.core.quota.types import PendingCharge, ResourceQuota
from apiserver.context import context_for
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.record_reading import stored_metadata
from apiserver.time_slices import TimeSlices
from apiserver.workload import LIGHT_BYTES

log = logging.getLogger(__name__)

RESYNC: Final = 300.0
"""Seconds after which a namespace is counted again although nothing has changed."""
ABANDONED: Final = 30.0
"""Seconds for which the writer of a pending charge may still store the object.

The charge is the last step before the write to the store, which does not take that long.
"""
ATTEMPTS: Final = 20
RETRY: Final = 0.5
"""Seconds until a quota that changes all the time is tried again."""


class _Changed(Exception):
    """A quota has changed so that what was counted does not apply to it any more."""


@dataclass(slots=True)
class _Contents:
    """The objects of one resource in a namespace: how many there are, and which if it matters."""

    count: int
    entries: Iterable[Entry] | None


@dataclass(slots=True)
class _Snapshot:
    """The quotas of a namespace and what they limit, all of one revision."""

    quotas: list[ResourceQuota]
    contents: dict[GroupResource, _Contents]
    charged: dict[str, Entry | None]
    """The id of each pending charge -> its object, for resources that this server has."""


@dataclass(slots=True)
class _Count:
    """What objects and pending charges of a snapshot use together."""

    total: Amounts = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    """Pending charges whose object is stored."""
    ended: set[str] = field(default_factory=set)
    """Pending charges of updates that are stored, or will fail: the object has changed."""
    abandoned: set[str] = field(default_factory=set)
    """Pending charges that are in the total, but whose writer is dead."""
    next_change: float = RESYNC
    """Seconds after which the count changes by itself."""

    @property
    def closed(self) -> set[str]:
        return self.stored | self.ended | self.abandoned


class Recount:
    """Corrects the quotas of namespaces."""

    def __init__(
        self,
        find_store: FindStore,
        *,
        now: Callable[[], datetime] = present,
        clock: Callable[[], float] = monotonic,
        abandoned: float = ABANDONED,
    ) -> None:
        self._find_store = find_store
        self._evaluators = Evaluators(find_store)
        self._now = now
        self._clock = clock
        self._abandoned = abandoned
        self._measured: dict[
            tuple[str, GroupResource], tuple[object, dict[str, tuple[int, Measure]]]
        ] = {}
        """What was counted last: the evaluator's version, and key -> revision and measure."""
        self._seen: dict[str, dict[str, float]] = {}
        """Namespace -> pending charge -> when it was first seen here."""

    async def __call__(self, namespace: str) -> float | None:
        """Correct all quotas of a namespace; return the seconds until the next recount.

        Returns None for a namespace without quotas. Raises APIError.
        """
        for _ in range(ATTEMPTS):
            try:
                return await self._recount(namespace)
            except _Changed:
                await asyncio.sleep(0)
        return RETRY

    async def _recount(self, namespace: str) -> float | None:
        snapshot = self._snapshot(namespace)
        if not snapshot.quotas:
            self._forget(namespace)
            return None
        seen, now = self._seen.get(namespace, {}), self._clock()
        self._seen[namespace] = {
            charge.id: seen.get(charge.id, now)
            for quota in snapshot.quotas
            for charge in quota.status.pending
        }
        measures = {
            resource: await self._measures(namespace, resource, contents.entries)
            for resource, contents in snapshot.contents.items()
            if contents.entries is not None
        }
        delay = RESYNC
        for quota in snapshot.quotas:
            count = await self._count(quota, snapshot, measures)
            await self._correct(quota, count)
            delay = min(delay, count.next_change)
        return delay

    def _snapshot(self, namespace: str) -> _Snapshot:
        """Read everything without letting the cache change in between."""
        store = self._find_store(QUOTAS)
        quotas = list(_decoded(store, namespace))
        names = {name for quota in quotas for name in quota.spec.hard}
        contents, charged = {}, {}
        for evaluator in self._evaluators.of_names(names):
            found = self._find(evaluator.resource)
            if found is not None:
                contents[evaluator.resource] = _contents(evaluator, found, namespace)
        for quota in quotas:
            for charge in quota.status.pending:
                found = self._find(_resource(charge))
                if found is not None:
                    collection = found.cached.collection
                    key = collection.keys.object_key(charge.name, namespace=namespace)
                    charged[charge.id] = collection.entry(key)
        return _Snapshot(quotas, contents, charged)

    def _find(self, resource: GroupResource) -> ResourceStore[Any] | None:
        """Return the store of a resource; None if this server does not have its objects."""
        try:
            store = self._find_store(resource)
        except KeyError:
            return None
        collection = store.cached.collection
        return store if collection.keys.namespaced and collection.filled.is_set() else None

    async def _measures(
        self, namespace: str, resource: GroupResource, entries: Iterable[Entry]
    ) -> Counter[Measure]:
        """Measure objects, those that have changed since the last time.

        Returns how many objects have each measure; the pods of a deployment share one.
        """
        evaluator, slices = self._evaluators.of(resource), TimeSlices()
        assert evaluator is not None, "only resources with an evaluator are counted"
        version, known = self._measured.get((namespace, resource), (None, {}))
        if version != evaluator.version:
            version, known = evaluator.version, {}
        measured: dict[str, tuple[int, Measure]] = {}
        shared = {measure.content: measure for measure in {one for _, one in known.values()}}
        for entry in entries:
            found = known.get(entry.key)
            if found is None or found[0] != entry.revision or found[1].volatile:
                measure = await self._measure(evaluator, entry)
                found = entry.revision, shared.setdefault(measure.content, measure)
            measured[entry.key] = found
            await slices.yield_loop()
        self._measured[namespace, resource] = version, measured
        return Counter(measure for _, measure in measured.values())

    async def _measure(self, evaluator: Evaluator, entry: Entry) -> Measure:
        store = self._find_store(evaluator.resource)
        if entry.size <= LIGHT_BYTES:
            return evaluator.measure(store.decode(entry))
        return await asyncio.to_thread(lambda: evaluator.measure(store.decode(entry)))

    async def _count(
        self,
        quota: ResourceQuota,
        snapshot: _Snapshot,
        measures: Mapping[GroupResource, Counter[Measure]],
    ) -> _Count:
        result, now, slices = _Count(), self._now(), TimeSlices()
        for evaluator in self._evaluators.of_names(quota.spec.hard):
            contents = snapshot.contents.get(evaluator.resource)
            if contents is None:
                continue
            names = evaluator.matching(quota.spec.hard)
            for name in names:
                result.total.setdefault(name, ZERO)
            if evaluator.counts_only:
                # No scope has such objects in it.
                count = 0 if requirements(quota.spec) else contents.count
                add(result.total, dict.fromkeys(names, Quantity(count)))
                continue
            for measure, count in measures[evaluator.resource].items():
                if measure.is_in(quota.spec):
                    add(result.total, times(mask(measure.at(now), names), count))
                    _note_end(result, measure, now)
                await slices.yield_loop()
        self._count_charges(quota, snapshot, result)
        return result

    def _count_charges(self, quota: ResourceQuota, snapshot: _Snapshot, result: _Count) -> None:
        """Add the pending charges without an object to what the objects use."""
        now, seen = self._clock(), self._seen[quota.metadata.namespace]
        for charge in quota.status.pending:
            if charge.id not in snapshot.charged:
                continue
            entry = snapshot.charged[charge.id]
            is_same = entry is not None and _uid(entry) == charge.uid
            if charge.version and not (
                is_same and entry is not None and str(entry.revision) == charge.version
            ):
                result.ended.add(charge.id)
            elif is_same and not charge.version:
                result.stored.add(charge.id)
            else:
                add(result.total, mask(charge.used, result.total))
                rest = seen[charge.id] + self._abandoned - now
                if rest <= 0:
                    result.abandoned.add(charge.id)
                result.next_change = min(result.next_change, max(rest, 0.0) + 0.1)

    async def _correct(self, quota: ResourceQuota, count: _Count) -> None:
        """Store the difference between what was counted and what the quota says."""
        if _is_correct(quota, count):
            return
        meta = quota.metadata
        context = context_for(
            "update",
            GroupVersionResource(GROUP, "v1", QUOTAS.resource),
            subresource="status",
            namespace=meta.namespace,
            name=meta.name,
        )

        def change(current: ResourceQuota) -> ResourceQuota:
            return _corrected(current, quota, count)

        try:
            await self._find_store(QUOTAS).rewrite(meta.name, change, context)
        except NotFound:
            return
        for charge in quota.status.pending:
            if charge.id in count.abandoned:
                log.warning(
                    "quota %s/%s: released the charge of %s %s, which was not stored",
                    *(meta.namespace, meta.name, charge.resource, charge.name),
                )

    def _forget(self, namespace: str) -> None:
        self._seen.pop(namespace, None)
        for key in [key for key in self._measured if key[0] == namespace]:
            del self._measured[key]


def _corrected(current: ResourceQuota, counted: ResourceQuota, count: _Count) -> ResourceQuota:
    """Return *current* with the correction of the state that was *counted*. Raises _Changed."""
    status, before = current.status, counted.status
    if (
        current.metadata.uid != counted.metadata.uid
        or status.recounts != before.recounts
        or current.spec != counted.spec
    ):
        raise _Changed
    left = {charge.id for charge in status.pending}
    if not count.ended <= left:
        # It was settled, or withdrawn: only in one of these cases the use has changed already.
        raise _Changed
    moved = current.metadata.resource_version != counted.metadata.resource_version
    used = mask(status.used, current.spec.hard)
    for name, amount in count.total.items():
        if not moved:
            used[name] = amount
        elif name in used and name in before.used:
            used[name] = used[name] + (amount - before.used[name])
        else:
            raise _Changed
    for charge in status.pending:
        if charge.id in count.abandoned:
            for name, amount in charge.used.items():
                if name in count.total:
                    used[name] = used[name] - amount
    status.used = {name: max(amount, ZERO) for name, amount in used.items()}
    status.hard = dict(current.spec.hard)
    status.pending = [charge for charge in status.pending if charge.id not in count.closed]
    status.recounts += 1
    return current


def _is_correct(quota: ResourceQuota, count: _Count) -> bool:
    status = quota.status
    return (
        not count.closed
        and status.hard == quota.spec.hard
        and status.used.keys() <= status.hard.keys()
        and all(status.used.get(name) == amount for name, amount in count.total.items())
    )


def _note_end(result: _Count, measure: Measure, now: datetime) -> None:
    """Count again when an object stops using something without a change."""
    if measure.ends is not None and now <= measure.ends:
        rest = (measure.ends - now).total_seconds() + 1.0
        result.next_change = min(result.next_change, rest)


def _decoded(store: ResourceStore[Any], namespace: str) -> Iterator[ResourceQuota]:
    """Yield the quotas of a namespace that can be decoded."""
    collection = store.cached.collection
    selection = EntrySelection(namespace=namespace)
    for entry in collection.select(selection, current=collection.changed).entries:
        try:
            yield store.decode(entry)
        except APIError as error:
            log.warning("quota %s is not counted: %s", entry.key, error)


def _contents(evaluator: Evaluator, store: ResourceStore[Any], namespace: str) -> _Contents:
    collection = store.cached.collection
    if evaluator.counts_only:
        return _Contents(collection.count(namespace), None)
    selection = EntrySelection(namespace=namespace)
    objects = collection.snapshot(selection, start="", revision=None)
    return _Contents(objects.count, objects.entries)


def _resource(charge: PendingCharge) -> GroupResource:
    resource, _, group = charge.resource.partition(".")
    return GroupResource(group, resource)


def _uid(entry: Entry) -> str:
    return str((stored_metadata(entry.record.value) or {}).get("uid", ""))
