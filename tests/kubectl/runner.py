"""Running a real kubectl as a user does, and replaying what a terminal showed.

A test has a folder, a namespace and a kubeconfig of its own, so its commands read as they would in
a shell, and tests do not see each other.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from tests.kubectl.background import Background
from tests.kubectl.normal import normal
from tests.servers import Server

ON_PATH: Final = "kubectl"
_SECONDS: Final = 30.0

one_version = pytest.mark.parametrize("program", [ON_PATH], indirect=True)
"""For tests of what every kubectl asks of the server in the same way."""


def installed() -> dict[str, Path]:
    """Every kubectl of this machine by a short name: the one on PATH and what lies beside it."""
    on_path = shutil.which("kubectl")
    if on_path is None:
        return {}
    beside = sorted(Path(on_path).resolve().parent.glob("kubectl.[0-9]*.[0-9]*"))
    return {ON_PATH: Path(on_path)} | {p.name.removeprefix("kubectl."): p for p in beside}


@dataclass(frozen=True)
class Result:
    """What one command did."""

    stdout: str
    stderr: str
    code: int

    @property
    def shown(self) -> str:
        """What a terminal shows, the errors last."""
        return self.stdout + self.stderr


@dataclass(frozen=True)
class Program:
    """One kubectl, with what it keeps between its runs."""

    path: Path
    home: Path

    @cached_property
    def version(self) -> tuple[int, int]:
        """Its minor version, by which a few of its messages differ."""
        said = subprocess.run(
            [self.path, "version", "--client", "-o", "json"],
            capture_output=True, text=True, check=True, timeout=_SECONDS,
        ).stdout  # fmt: skip
        found = re.search(r'"gitVersion": "v(\d+)\.(\d+)', said)
        assert found, said
        return int(found[1]), int(found[2])


@dataclass(frozen=True)
class Kubectl:
    """A shell in *folder* with kubectl's current context set to *namespace*."""

    program: Program
    server: Server
    folder: Path
    namespace: str
    environ: Mapping[str, str]

    @property
    def version(self) -> tuple[int, int]:
        return self.program.version

    def __call__(self, *arguments: str, stdin: str = "", seconds: float = _SECONDS) -> Result:
        """Run one command to its end, whatever that is."""
        done = subprocess.run(
            [self.program.path, *arguments],
            input=stdin, capture_output=True, text=True, timeout=seconds,
            cwd=self.folder, env=self.environ,
        )  # fmt: skip
        return Result(done.stdout, done.stderr, done.returncode)

    def output(self, *arguments: str, stdin: str = "") -> str:
        """What a command that must succeed prints."""
        result = self(*arguments, stdin=stdin)
        assert result.code == 0, result.shown
        return result.stdout

    @contextmanager
    def started(self, *arguments: str) -> Iterator[Background]:
        """Run a command beside the test until the block ends."""
        process = subprocess.Popen(
            [self.program.path, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, env=self.environ,
        )  # fmt: skip
        with Background(process) as background:
            yield background

    def having(self, **environ: str) -> "Kubectl":
        """The same shell with more in its environment."""
        return replace(self, environ={**self.environ, **environ})

    def write(self, name: str, text: str) -> Path:
        """Put a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def replays(self, transcript: str) -> None:
        """Run the commands of a transcript; each must print what it says there.

        A command starts with `$ `; what follows is what the terminal shows, standard error after
        standard output; `(exit 1)` at the end says that it fails.
        """
        for command, expected in _commands(dedent(transcript)):
            result = self(*shlex.split(command.removeprefix("kubectl ")))
            shown = result.shown + (f"\n(exit {result.code})" if result.code else "")
            said = f"$ {command}\n{normal(shown, self.namespace)}"
            assert said == f"$ {command}\n{normal(expected, self.namespace)}"


def _commands(transcript: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected
