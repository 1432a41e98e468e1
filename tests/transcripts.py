"""Transcripts in the documentation: what a page says a terminal shows, run and compared.

On a page, a comment in front of a block says what the block is for:

    <!-- replay -->          the ```console block is run, and its output must be what stands there
    <!-- file: lamps.py -->  the ```python block is (the next part of) that file

All commands of a page run in one shell, top to bottom, as a reader would type them. A command is
what follows `$ `, with the lines of its here-document or after its backslash; the rest, up to the
next `$ `, is what it prints. A line `…` stands for any number of lines, a `…` within a line for
anything in that line. What differs from run to run is made equal by RULES, on both sides.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Final
from uuid import uuid4

RULES: Final = (
    # (what is found, what it becomes, what it is)
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID", "uids and request ids"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)", "TIME", "points in time"),
    (r"(?<=\s)(\d+[dhms]){1,2}(?=\s|$)", "AGE", "ages in a column"),
    (r'(resourceVersion"?:\s*|Resource Version:\s*)"?\d+"?', r"\1VERSION", "resource versions"),
    (r"\b127\.0\.0\.1:\d+", "127.0.0.1:PORT", "the address of the server"),
    (r'(" deleted) from \S+ namespace', r"\1", "where something was, which newer kubectls say"),
    (r"(?<=\S) {2,}", "  ", "the width of columns"),
)
ANYTHING: Final = "…"

_BLOCK: Final = re.compile(
    r"^<!-- (?P<what>replay|file: (?P<file>\S+)) -->\n+```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_HERE: Final = re.compile(r"<<'?(\w+)'?")
_SERVED: Final = re.compile(r"\bserve ((?:\w+\.)*\w+:\w+)")
_SECONDS: Final = 300.0


@dataclass(frozen=True)
class Command:
    """One command of a page, and what it is said to print."""

    line: int
    text: str
    expected: str


@dataclass(frozen=True)
class Page:
    """What can be replayed of a page."""

    commands: Sequence[Command] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    groups: Sequence[str] = ()
    """Groups that a server has to serve for it: those of its files that it tells to serve."""


def read(text: str) -> Page:
    """Find the transcripts and the files of a page."""
    commands: list[Command] = []
    files: dict[str, str] = {}
    for block in _BLOCK.finditer(text):
        if block["file"]:
            files[block["file"]] = files.get(block["file"], "") + block["text"]
        else:
            first = text[: block.start("text")].count("\n") + 1
            commands += _commands(block["text"].splitlines(), first)
    served = dict.fromkeys(_SERVED.findall(text))
    groups = [group for group in served if f"{group.partition(':')[0]}.py" in files]
    return Page(commands, files, groups)


def run(commands: Sequence[Command], folder: Path, environ: Mapping[str, str]) -> list[str]:
    """What each command prints, standard error included, in the order a terminal shows it."""
    mark = f"--- {uuid4()}"
    script = "".join(f"{command.text}\necho '{mark}'\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script], text=True, cwd=folder, env=dict(environ), timeout=_SECONDS,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    # A command that ends without a newline has the mark behind its last word.
    shown = done.stdout.split(f"{mark}\n")
    assert len(shown) == len(commands) + 1, f"the shell ended early:\n{done.stdout}"
    return shown[:-1]


def normal(text: str) -> str:
    """*text* without what differs from run to run, and without empty lines."""
    lines = []
    for line in text.splitlines():
        for found, becomes, _ in RULES:
            line = re.sub(found, becomes, line)
        lines.append(line.rstrip())
    return "\n".join(line for line in lines if line)


def agrees(expected: str, shown: str) -> bool:
    """Whether a command has printed what a page says, once both are normal."""
    pattern = ""
    for line in expected.splitlines():
        if line == ANYTHING:
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(map(re.escape, line.split(ANYTHING))) + r"\n"
    return re.fullmatch(pattern, f"{shown}\n" if shown else "") is not None


def _commands(lines: Sequence[str], first: int) -> Iterator[Command]:
    position = 0
    while position < len(lines):
        line = lines[position]
        assert line.startswith("$ "), f"line {first + position}: a transcript begins with `$ `"
        size = _length(lines[position:])
        text = "\n".join(lines[position : position + size]).removeprefix("$ ")
        output = list(takewhile(lambda line: not line.startswith("$ "), lines[position + size :]))
        yield Command(first + position, text, "\n".join(output))
        position += size + len(output)


def _length(lines: Sequence[str]) -> int:
    """How many lines a command has."""
    size = 1
    while lines[size - 1].endswith("\\"):
        size += 1
    here = _HERE.search(lines[size - 1])
    return lines.index(here[1]) + 1 if here else size
