"""What a process of a server imports: each costs time at the start, and memory as long as it runs.

The tests list modules that must not be there, and no times: a machine cannot make them fail.
"""

import os
import subprocess
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from apiserver.config import ServerConfig
from apiserver.process.data_folder import prepare

ROOT = Path(__file__).parents[3]

MASTER_NEEDS_NONE = (
    *("asyncio", "pydantic", "pydantic_core", "falcon", "aiohttp", "uvloop", "cryptography", "jwt"),
    *("google.protobuf", "yaml", "grpc", "sqlite3", "prometheus_client", "hypothesis", "pytest"),
    *("apis", "client", "apiserver.app", "apiserver.group", "apiserver.storage"),
    *("apiserver.controlplane", "apiserver.handlers", "apimachinery.model", "apimachinery.scheme"),
)
WORKER_NEEDS_NONE = (
    *("google.protobuf", "grpc", "hypothesis", "pytest", "aiohttp", "re2", "cel_expr_python"),
    *("apimachinery.openapi", "apimachinery.structural", "apimachinery.cel"),
    *("apimachinery.testing", "apimachinery.protobuf.protobuf_codec"),
    *("apiserver.extensions.custom_resource", "apis.apiextensions.validation.definition"),
    *("apis.kubernetes", "apis.core.v1.pod", "apiserver.commands.check"),
    *("gunicorn.asgi.protocol", "gunicorn.asgi.websocket", "gunicorn.workers.gasgi"),
)


def modules_after(program: str) -> set[str]:
    """The modules that a program has imported when it ends."""
    run = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return set(run.stdout.split())


def present(modules: Collection[str], unwanted: Collection[str]) -> list[str]:
    return [
        name for name in unwanted if any(f"{found}.".startswith(f"{name}.") for found in modules)
    ]


def test_the_master_imports_only_what_supervision_needs() -> None:
    """It imports no more than this: what it would check or serve is imported by its workers."""
    modules = modules_after(
        "import apiserver.__main__ as command\ncommand._load_parser(['serve'])\n"
        "from apiserver.config import load_config\nload_config({}, {})"
    )

    assert "apiserver.process.serving" in modules
    assert present(modules, MASTER_NEEDS_NONE) == []


STARTED = """
import asyncio, sys
from pathlib import Path
import apiserver.process.start_check, apiserver.process.worker, apiserver.asgi
from apiserver.config import ServerConfig
from apiserver.controlplane.standard_server import create_app

async def start():
    folder, groups = Path({folder!r}), ({groups!r},)
    app = create_app(ServerConfig(storage="sqlite://:memory:", data_dir=folder, groups=groups))
    await app.start()
    await app.stop()

asyncio.run(start())
"""
BUILT = """
from apimachinery.model.model import Model

def classes(cls):
    for each in cls.__subclasses__():
        yield each
        yield from classes(each)

# One word for each class, as the modules are printed.
for cls in set(classes(Model)):
    if cls.__pydantic_complete__:
        print("built:" + cls.__qualname__.replace(" ", ""))
"""
SMALL, ALL_KINDS = "apis.gadgets.install:GADGETS", "apis.kubernetes:KUBERNETES"


def test_a_worker_imports_nothing_that_few_requests_need(tmp_path: Path) -> None:
    prepare(ServerConfig(data_dir=tmp_path), now=datetime.now(UTC))

    modules = modules_after(STARTED.format(folder=str(tmp_path), groups=SMALL))

    assert {"apiserver.handlers.routes", "apis.gadgets.v1.types"} <= modules
    assert present(modules, WORKER_NEEDS_NONE) == []


MORE_MODULES, MORE_CLASSES = 430, 30
"""What a start with all kinds may import and build beyond a small one: bounds, to be lowered."""


def test_a_start_with_all_kinds_builds_few_classes_more_than_a_small_one(tmp_path: Path) -> None:
    """What a start does not need is built later: most classes, and all of lists."""
    small, large = (
        words_of_start(groups, tmp_path / str(place))
        for place, groups in enumerate((SMALL, ALL_KINDS))
    )

    assert len(classes_in(large)) <= len(classes_in(small)) + MORE_CLASSES
    assert not [name for name in classes_in(large) if name.startswith("built:ObjectList[")]
    assert len(large - classes_in(large)) <= len(small - classes_in(small)) + MORE_MODULES


def words_of_start(groups: str, folder: Path) -> set[str]:
    """The modules that a start imports, and the classes that it builds."""
    prepare(ServerConfig(data_dir=folder), now=datetime.now(UTC))
    return modules_after(STARTED.format(folder=str(folder), groups=groups) + BUILT)


def classes_in(words: set[str]) -> set[str]:
    return {word for word in words if word.startswith("built:")}
