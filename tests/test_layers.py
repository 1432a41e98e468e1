"""Who may import whom, and which third party has which door. Read from the source, not imported."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("apimachinery", "apiserver", "apis", "client")

# Package -> what it may import of ours. The first rule that fits a module counts.
ALLOWED = (
    ("apimachinery.*", ("apimachinery",)),
    # composition roots put everything together
    ("apiserver.asgi", PACKAGES),
    ("apiserver.assembly", PACKAGES),
    ("apiserver.rbac", PACKAGES),
    ("apiserver.reviews", PACKAGES),
    ("apiserver.__main__", PACKAGES),
    ("apiserver.commands.*", PACKAGES),
    ("client.testing.*", PACKAGES),
    ("client.testing", PACKAGES),
    ("apiserver.*", ("apimachinery", "apiserver")),
    ("client.*", ("apimachinery", "client")),
    # the server half and the controller half of a group, and then its types
    ("apis.*.controllers*", ("apimachinery", "apis", "client")),
    ("apis.*.install", ("apimachinery", "apis", "apiserver.group", "apiserver.registry.strategy")),
    ("apis.*.strategy*", ("apimachinery", "apis", "apiserver.registry.strategy")),
    ("apis.*.printers*", ("apimachinery", "apis", "apiserver.registry.table")),
    ("apis.*", ("apimachinery", "apis")),
)

# Third party -> the modules that may import it.
DOORS = {
    "pydantic": ("apimachinery.*", "apis.*"),
    "pydantic_core": ("apimachinery.*", "apis.*"),
    "orjson": ("apimachinery.*", "apiserver.*", "client.*"),
    "yaml": ("apimachinery.yaml",),
    "marshmallow": ("apimachinery.meta.parameters", "apiserver.config*"),
    "google": (
        "apimachinery.protobuf.*",
        "apimachinery.openapi.gnostic*",
        "apimachinery.cel.values",
    ),
    "hypothesis": ("apimachinery.testing.*",),
    "sortedcontainers": ("apiserver.storage.*",),
    "sqlite3": ("apiserver.storage.sqlite*",),
    "aetcd": ("apiserver.storage.etcd*",),
    "grpc": ("apiserver.storage.etcd*",),
    "falcon": (
        "apiserver.app",
        "apiserver.decoding",
        "apiserver.handlers.*",
        "apiserver.middleware",
        "apiserver.response",
        "apiserver.routes",
    ),
    "gunicorn": ("apiserver.connection", "apiserver.serving", "apiserver.worker"),
    "cryptography": (
        "apiserver.auth.signing",
        "apiserver.auth.x509",
        "apiserver.certificates",
        "apiserver.connection",
    ),
    "jwt": ("apiserver.auth.signing",),
    "prometheus_client": ("apiserver.metrics", "client.controller.*"),
    "aiohttp": ("client.transport",),
    "aiohttp_socks": ("client.socks",),
    "cel_expr_python": ("apimachinery.cel.*",),
    "re2": ("apimachinery.structural.patterns",),
}

# apimachinery is pure: values in, values out.
IMPURE = frozenset(("asyncio", "socket", "subprocess", "http", "urllib", "sqlite3"))


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def fits(module: str, pattern: str) -> bool:
    return fnmatch(module, pattern) or fnmatch(module + ".", pattern)


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_imports_keep_to_their_layer(module: str, path: Path) -> None:
    allowed = next(allowed for pattern, allowed in ALLOWED if fits(module, pattern))

    ours = [name for name in imports(path) if name.split(".")[0] in PACKAGES]

    strays = [name for name in ours if not any(f"{name}.".startswith(f"{ok}.") for ok in allowed)]
    assert not strays


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_third_parties_enter_by_their_door(module: str, path: Path) -> None:
    strays = [
        name
        for name in imports(path)
        if (doors := DOORS.get(name.split(".")[0])) and not any(fits(module, d) for d in doors)
    ]
    assert not strays


@pytest.mark.parametrize(
    ("module", "path"), [m for m in modules() if m[0].startswith("apimachinery")]
)
def test_apimachinery_is_pure(module: str, path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] in IMPURE]


def test_type_half_of_a_group_does_not_know_the_server() -> None:
    allowed = next(allowed for pattern, allowed in ALLOWED if fits("apis.gadgets.types", pattern))

    assert "apiserver" not in allowed
    assert "client" not in allowed


def test_every_package_is_typed() -> None:
    assert [p for p in PACKAGES if not (ROOT / p / "py.typed").exists()] == []


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_nothing_waits_in_a_way_that_may_forget_to_be_cancelled(module: str, path: Path) -> None:
    """In Python 3.11 `asyncio.wait_for` does, if what it waits for happens at that moment."""
    assert "asyncio.wait_for(" not in path.read_text(), "use `async with asyncio.timeout(…)`"
