"""Client libraries as they are published, against a real server.

Each runs in a process of its own: its warnings are its own, and so are its threads.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import Server

HERE = Path(__file__).parent
_SECONDS = 60.0


def run(*command: str | Path, server: Server, folder: Path | None = None) -> list[str]:
    """What a program that must succeed prints, line by line."""
    environ = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("library", "checks"),
    [
        (
            "official_client",
            "typed_objects errors pages watches custom_objects definitions dynamic_client"
            " service_accounts events server",
        ),
        ("lightkube_client", "typed_objects generic_objects server_side_apply watches waits"),
        ("kr8s_client", "objects gadgets definitions watches discovery"),
    ],
)
def test_a_python_library_works_unmodified(
    server: Server, namespace: str, library: str, checks: str
) -> None:
    program = f"tests.libraries.{library}"

    assert run(sys.executable, "-m", program, namespace, server=server) == checks.split()


@pytest.fixture(scope="session")
def node_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript client in it; npm keeps what it once fetched."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm is not on PATH: install Node.js to test the JavaScript client")
    folder = tmp_path_factory.mktemp("node")
    command = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [*command, "@kubernetes/client-node@1"],
        cwd=folder, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    if done.returncode and "network" in done.stderr:
        pytest.skip(f"npm cannot fetch @kubernetes/client-node:\n{done.stderr}")
    assert done.returncode == 0, done.stderr
    shutil.copy(HERE / "client_node.mjs", folder)
    return folder


def test_the_javascript_client_works_unmodified(
    server: Server, namespace: str, node_folder: Path
) -> None:
    shown = run("node", "client_node.mjs", namespace, server=server, folder=node_folder)

    assert shown == ["typedObjects", "customObjects", "genericObjects", "watches"]
