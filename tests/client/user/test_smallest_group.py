"""The smallest group, as the README shows it: two import lines, one screen."""

import ast
from pathlib import Path

from tests.transcripts import read

README = Path(__file__).parent.parent.parent.parent / "README.md"
GROUP = read(README.read_text()).files["lamps.py"]


def test_it_imports_from_two_modules() -> None:
    imports = [
        node for node in ast.walk(ast.parse(GROUP)) if isinstance(node, ast.Import | ast.ImportFrom)
    ]

    assert [node.module for node in imports if isinstance(node, ast.ImportFrom)] == [
        "apimachinery",
        "apiserver",
    ]
    assert len(imports) == 2


def test_it_fits_on_a_screen() -> None:
    assert len(GROUP.splitlines()) < 45
