"""A running server that learns of new shapes."""

import asyncio

import pytest

from apiserver.evolution import start
from apiserver.evolution.catalogue import Catalogue, read_catalogue
from apiserver.evolution.shape_learning import LearningBackend
from apiserver.storage.interface import Backend
from tests.apiserver.evolution.conftest import NewStore
from tests.apiserver.evolution.releases import release, serving_alone


async def test_an_older_catalogue_never_replaces_a_newer_one(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of two reads is answered last."""
    store = new_store()
    first = release({"color": (str, "")})
    second = release({"color": (str, ""), "watts": (int, 5)})
    async with serving_alone(first, storage=store) as old:
        backend = old.app.backend
        assert isinstance(backend, LearningBackend)
        learner = backend.learner
        assert learner is not None
        (known,) = learner._known.values()
        is_read, may_return = asyncio.Event(), asyncio.Event()

        async def slow_at_first(backend: Backend) -> Catalogue:
            catalogue = await read_catalogue(backend)
            if not is_read.is_set():
                is_read.set()
                await may_return.wait()
            return catalogue

        monkeypatch.setattr(start, "read_catalogue", slow_at_first)
        earlier = asyncio.create_task(learner.learn([(known, "absent")]))
        await is_read.wait()
        monkeypatch.setattr(start, "read_catalogue", read_catalogue)
        async with serving_alone(second, storage=store) as new:
            await new.create("a", color="red")
            fingerprint = next(iter(new.app.groups.shapes().values()))
        later = asyncio.create_task(learner.learn([(known, fingerprint)]))
        await asyncio.wait([later], timeout=0.2)
        may_return.set()
        await asyncio.gather(earlier, later)

        assert fingerprint in known.kind.codec.shapes.trees
