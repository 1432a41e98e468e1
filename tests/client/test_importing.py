"""Importing: the client starts nothing, loads little, and needs none of the extras."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from apimachinery.extras import EXTRAS
from tests.servers import serving

ROOT = Path(__file__).parent.parent.parent
CLIENT = ROOT / "client"
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


# Without extras

REFUSING = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusing())
"""
"""Makes an import fail as if the package was not installed."""

ROUND_TRIP = """
import apimachinery, client, client.controller, client.informer, client.testing
from apimachinery.openapi import definitions, documents
from apimachinery.structural import Schema

with client.Client.from_env(kubeconfig=sys.argv[1]) as connected:
    config_maps = connected.kind("ConfigMap", "v1")
    config_maps.create({"metadata": {"name": "a"}, "data": {"key": "value"}})
    config_maps.patch("a", {"data": {"key": "other"}})
    with config_maps.watch() as watch:
        print(next(watch).object["data"]["key"])
"""
SERVE = """
from apiserver.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
ROUND_TRIP_TESTS = "from apimachinery.testing import assert_roundtrip"
ENVIRONMENT = """
import asyncio
from client.testing import environment

async def start():
    async with environment(): pass

asyncio.run(start())
"""
RULES = """
from apimachinery.fieldpath import Path
from apis.apiextensions.validation.rules import validate_rules

rule = {"rule": "self.size() > 0"}
schema = {"type": "string", "x-kubernetes-validations": [rule]}
print(*validate_rules(schema, Path("schema")))
"""


def run(script: str, *arguments: str, without: set[str]) -> subprocess.CompletedProcess[str]:
    refused = tuple(module for module, extra in EXTRAS.items() if extra in without)
    program = REFUSING.format(refused=refused) + script
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)


def test_the_client_needs_no_extra(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        done = run(ROUND_TRIP, str(server.kubeconfig), without=set(EXTRAS.values()))

    assert (done.stdout, done.stderr) == ("other\n", "")


@pytest.mark.parametrize(
    ("script", "extra"),
    [(SERVE, "server"), (ENVIRONMENT, "server"), (ROUND_TRIP_TESTS, "testing"), (RULES, "cel")],
    ids=["serve", "environment", "assert_roundtrip", "rules"],
)
def test_a_missing_extra_is_named(script: str, extra: str) -> None:
    done = run(script, "serve", without={extra})

    last = (done.stdout + done.stderr).splitlines()[-1]
    assert f"is not installed: pip install 'apimachinery[{extra}]'" in last


def test_the_command_reports_a_missing_extra_in_one_line() -> None:
    done = run(SERVE, "serve", without={"server"})

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("apiserver: ")


def test_a_server_whose_store_needs_an_extra_names_it(tmp_path: Path) -> None:
    address = ("--bind", "127.0.0.1:0", "--data-dir", str(tmp_path))
    done = run(SERVE, "serve", *address, "--storage", "etcd://127.0.0.1:1", without={"etcd"})

    assert done.returncode != 0
    assert "pip install 'apimachinery[etcd]'" in done.stderr
    assert "Traceback" not in done.stderr
