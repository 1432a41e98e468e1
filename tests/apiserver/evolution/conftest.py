"""Stores that several releases share."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from tests.apiserver.storage.etcd.etcd_server import start_etcd

NewStore = Callable[[], str]
"""Returns the URL of a new, empty store."""


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one etcd for all tests here."""
    with start_etcd(tmp_path_factory.mktemp("etcd")) as address:
        yield address


@pytest.fixture(scope="module", params=["sqlite", "etcd"])
def new_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewStore:
    """Stores of each kind."""
    if request.param == "etcd":
        address = request.getfixturevalue("etcd")
        return lambda: f"etcd://{address}?prefix=/{uuid4().hex}"
    folder = tmp_path_factory.mktemp("stores")
    return lambda: f"sqlite:///{folder / uuid4().hex}.sqlite"
