"""What the documentation shows of a terminal is what a terminal shows."""

import difflib
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.servers import GADGETS, Server, serving
from tests.transcripts import Command, Page, agrees, normal, read, run

ROOT = Path(__file__).parent.parent
PAGES = (
    *("README.md", "docs/access.md", "docs/custom-resources.md", "docs/kubectl.md"),
    "docs/tour.md",
)


def test_a_transcript_is_commands_and_what_they_print() -> None:
    page = read(
        "# A page\n"
        "```console\n$ not run\n```\n"
        "<!-- replay -->\n"
        "```console\n"
        "$ cat <<EOF | tr a-z A-Z\n"
        "two\n"
        "lines\n"
        "EOF\n"
        "TWO\n"
        "LINES\n"
        "$ true \\\n"
        "  && echo b\n"
        "b\n"
        "```\n"
    )

    assert page.commands == [
        Command(7, "cat <<EOF | tr a-z A-Z\ntwo\nlines\nEOF", "TWO\nLINES"),
        Command(13, "true \\\n  && echo b", "b"),
    ]


def test_files_are_put_together_and_groups_are_those_served_from_them() -> None:
    page = read(
        "<!-- file: a.py -->\n```python\nA = 1\n```\n"
        "```console\n$ apiserver serve a:A other:B\n$ apiserver serve b:B\n```\n"
        "<!-- file: a.py -->\n\n```python\nB = 2\n```\n"
    )

    assert page == Page([], {"a.py": "A = 1\nB = 2\n"}, ["a:A"])


def test_the_shell_keeps_its_state_and_shows_errors_where_they_happen(tmp_path: Path) -> None:
    lines = ("export A=1", "echo $A; echo no >&2; printf end", "false", "echo $A")

    shown = run([Command(0, line, "") for line in lines], tmp_path, {"PATH": os.environ["PATH"]})

    assert shown == ["", "1\nno\nend", "", "1\n"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lamp   a1      2         3s", "lamp  a1  2  AGE"),
        ("lamp   a1   2d5h", "lamp  a1  AGE"),
        ('{"timeout":"1m0s"}', '{"timeout":"1m0s"}'),
        ('  resourceVersion: "17"', "  resourceVersion: VERSION"),
        ('{"resourceVersion":"17","x":1}', '{"resourceVersion":VERSION,"x":1}'),
        ("  uid: 8c6f0c43-5c0e-4a6c-9a53-0c1a3b9d8f10", "  uid: UID"),
        ('  creationTimestamp: "2024-05-01T10:00:00Z"', '  creationTimestamp: "TIME"'),
        ("server: https://127.0.0.1:6443", "server: https://127.0.0.1:PORT"),
        ("a\n\nb  \n", "a\nb"),
    ],
)
def test_what_differs_from_run_to_run_is_made_equal(text: str, expected: str) -> None:
    assert normal(text) == expected


@pytest.mark.parametrize(
    ("expected", "shown", "result"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("", "", True),
        ("", "a", False),
        ("a", "a\nb", False),
        ("a\n…", "a\nb\nc", True),
        ("a\n…\nc", "a\nc", True),
        ("a\n…\nc", "a\nb", False),
        ("a … c", "a b c", True),
        ("a … c", "a b\nb c", False),
    ],
)
def test_a_page_may_leave_things_out(expected: str, shown: str, result: bool) -> None:
    assert agrees(expected, shown) is result


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", PAGES)
def test_the_transcripts_of_a_page_are_true(name: str, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("kubectl is not on PATH, and in CI it must be")
        pytest.skip("kubectl is not on PATH: install it to replay the documentation")
    page = read((ROOT / name).read_text())
    assert page.commands, f"{name} has nothing to replay"
    folder = tmp_path / "folder"
    folder.mkdir()
    for file, text in page.files.items():
        (folder / file).write_text(text)

    with serving(
        tmp_path / "server",
        groups=(GADGETS, *page.groups),
        environ={"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
    ) as server:
        # Where a reader's server would have made its data folder.
        (folder / ".apiserver").symlink_to(server.data_dir)
        outputs = run(page.commands, folder, environment(server, tmp_path))

    wrong = "\n".join(
        difference(name, command, shown)
        for command, shown in zip(page.commands, outputs, strict=True)
        if not agrees(normal(command.expected), normal(shown))
    )
    assert not wrong, f"\n{wrong}"


def test_the_start_is_announced_as_the_readme_says(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    _, serving_line, export_line = readme.partition("$ make serve\n")[2].splitlines()[:3]

    with serving(tmp_path / "server") as server:
        said = server.log

    made = f"{server.data_dir}/admin.kubeconfig"
    shown = normal(said.replace(made, ".apiserver/admin.kubeconfig"))
    assert shown.splitlines()[:2] == normal(f"{serving_line}\n{export_line}").splitlines()


def environment(server: Server, home: Path) -> dict[str, str]:
    """What a reader's shell has, and nothing of ours."""
    commands = Path(sys.executable).parent
    return {
        "APISERVER_BIND": f"127.0.0.1:{server.port}",
        "HOME": str(home),
        "KUBECONFIG": str(server.kubeconfig),
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(home),
    }


def difference(name: str, command: Command, shown: str) -> str:
    """Where a page is wrong, and what it should say."""
    lines = difflib.unified_diff(
        normal(command.expected).splitlines(),
        normal(shown).splitlines(),
        f"{name}:{command.line}: $ {command.text.splitlines()[0]}",
        "what is printed",
        lineterm="",
    )
    return "\n".join([*lines, "as printed:", shown])
