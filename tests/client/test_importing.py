"""Importing the client has no side effects and loads no optional dependency."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parent.parent.parent / "client"
MODULES = sorted(path for path in CLIENT.rglob("*.py"))
UNWANTED = (
    *("apiserver", "apis", "client.informer", "client.controller", "client.testing"),
    *("aiohttp", "yaml", "marshmallow", "google.protobuf", "prometheus_client", "pytest"),
)
PROGRAM = f"""
import logging, sys, threading
import client
print([name for name in {UNWANTED!r} if name in sys.modules])
print(logging.getLogger().handlers, threading.active_count())
"""


def test_importing_the_client_starts_and_configures_nothing_and_loads_little() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)

    assert run.stdout.decode().splitlines() == ["[]", "[] 1"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CLIENT)))
def test_it_logs_under_one_name_and_never_prints(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    printed = [
        call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"
    ]
    named = [
        ast.literal_eval(call.args[0])
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "getLogger"
    ]

    assert not printed
    assert all(name.startswith("apimachinery.") for name in named)
