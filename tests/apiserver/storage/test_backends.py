"""How a URL finds its backend."""

from pathlib import Path

import pytest

from apiserver.storage.backends import InvalidURL, open_backend

PLUGIN = """
class Elsewhere:
    def __init__(self, url):
        self.url = url

async def open_elsewhere(url):
    return Elsewhere(url)
"""


@pytest.fixture
def installed_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings a backend, as pip would leave it on the path."""
    (tmp_path / "elsewhere_store.py").write_text(PLUGIN)
    metadata = tmp_path / "elsewhere-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[apiserver.storage]\nelsewhere = elsewhere_store:open_elsewhere\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed_plugin")
async def test_a_package_can_bring_a_backend() -> None:
    backend = await open_backend("elsewhere://host/path?x=1")

    assert backend.url == "elsewhere://host/path?x=1"  # type: ignore[attr-defined]


async def test_our_own_backends_are_found() -> None:
    backend = await open_backend("sqlite://:memory:")

    assert await backend.current_revision() >= 1
    await backend.close()


@pytest.mark.usefixtures("installed_plugin")
@pytest.mark.parametrize("url", ["mysql://host", "", "elsewhere", "elsewhere:/x", "/var/store.db"])
async def test_an_unknown_scheme_is_refused_with_the_known_ones(url: str) -> None:
    with pytest.raises(InvalidURL, match="known: elsewhere:"):
        await open_backend(url)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@host",
        "user:secret@etcd://host",
        "user:secret@host",
        "etcd://user:secret@",
        "etcd://user:secret@host:port",
        "etcd://user:secret@host?nonsense",
        "etcd://user:secret@host?ca=/no/such/file",
        "sqlite://user:secret@host/store.db",
        "sqlite://user:secret@[",
        "sqlite://user:secret@\u2100/store.db",
        "sqlite:///store.db?secret",
    ],
)
async def test_the_error_does_not_repeat_a_password(url: str) -> None:
    with pytest.raises(InvalidURL) as refused:
        await open_backend(url)

    assert "secret" not in str(refused.value)


async def test_the_scheme_that_nobody_knows_is_named() -> None:
    with pytest.raises(InvalidURL, match="no backend has the scheme 'mysql'"):
        await open_backend("mysql://host")
