"""20,000 changes through cut streams, 410s, restarts and slow handlers: the cache ends equal to the
server, and every handler has seen a history that could have happened.

That this suite would notice if it were otherwise is tested as well, by sabotage.
"""

import random
from collections.abc import Iterator

import pytest

from client.cache.deltas import ReplacedAll
from client.informer import InformerOptions, SharedInformer
from client.informer.registration import Notification
from tests.client.informer.chaos import Sabotage, survive
from tests.client.informer.server import Gadget
from tests.faults.figures import record_figures

CHANGES = 20_000
FEW_CHANGES = 3_000
SEED = 20_240_101
KINDS = {
    "fifo, watch-list": InformerOptions(),
    "fifo, list, resync": InformerOptions(use_watch_list=False, resync=300),
    "delta fifo, resync": InformerOptions(in_order=False, resync=200),
}


@pytest.mark.parametrize("options", KINDS.values(), ids=list(KINDS))
async def test_the_cache_survives_every_fault(options: InformerOptions) -> None:
    await survive(CHANGES, options, seed=SEED)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("options", KINDS.values(), ids=list(KINDS))
async def test_the_cache_survives_other_faults(options: InformerOptions, seed: int) -> None:
    await survive(CHANGES, options, seed=seed)
    kind = next(name for name, known in KINDS.items() if known is options)
    record_figures(
        "fault suites", f"informers among faults #{kind} {seed}", rounds=1, events=CHANGES
    )


def lose_deletions(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    delete = informer._queue.delete

    def lost(obj: Gadget) -> None:
        if luck.random() > 0.05:
            delete(obj)

    informer._queue.delete = lost  # type: ignore[method-assign]


def swap_updates(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    update, held = informer._queue.update, list[Gadget]()

    def swapped(obj: Gadget) -> None:
        if not held and luck.random() < 0.05:
            held.append(obj)
            return
        update(obj)
        while held:
            update(held.pop())

    informer._queue.update = swapped  # type: ignore[method-assign]


def keep_what_a_list_lacks(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    store = informer.store
    replace_all = store.replace_all

    def kept(items: dict[str, Gadget], resource_version: str) -> dict[str, Gadget]:
        return replace_all({**store._items, **items}, resource_version)

    store.replace_all = kept  # type: ignore[method-assign]


def alter_objects(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    put = informer.store.put

    def altered(key: str, obj: Gadget) -> Gadget | None:
        if luck.random() < 0.01:
            obj.spec.size += 1
        return put(key, obj)

    informer.store.put = altered  # type: ignore[method-assign]


def forget_to_tell(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    registration = informer._processor.registrations[0]
    notify = registration.notify

    def forgetful(notification: Notification[Gadget]) -> None:
        if luck.random() > 0.01:
            notify(notification)

    registration.notify = forgetful  # type: ignore[method-assign]


def run_ahead(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    reflector = informer._reflector
    assert reflector is not None
    advance = reflector._advance

    def ahead(resource_version: str) -> None:
        advance(str(int(resource_version) + 1))

    reflector._advance = ahead  # type: ignore[method-assign]


def tell_of_no_list(informer: SharedInformer[Gadget], luck: random.Random) -> None:
    def silently(delta: ReplacedAll[Gadget], *, initial: bool) -> Iterator[Notification[Gadget]]:
        informer.store.replace_all(delta.objects, delta.resource_version)
        yield from ()

    informer._processor._replace_all = silently  # type: ignore[method-assign]


@pytest.mark.parametrize(
    "sabotage",
    [
        lose_deletions,
        swap_updates,
        keep_what_a_list_lacks,
        alter_objects,
        forget_to_tell,
        run_ahead,
        tell_of_no_list,
    ],
)
async def test_sabotage_is_noticed(sabotage: Sabotage) -> None:
    """The suite fails when the cache or what handlers are told is wrong, however rarely."""
    with pytest.raises(ExceptionGroup) as caught:
        await survive(FEW_CHANGES, InformerOptions(), seed=SEED, sabotage=sabotage)

    assert caught.group_contains(AssertionError)


async def test_without_sabotage_the_same_run_is_fine() -> None:
    await survive(FEW_CHANGES, InformerOptions(), seed=SEED)
