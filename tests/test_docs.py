"""The code on every page of the documentation runs, top to bottom, as a reader would type it."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#]+)[^)]*\)")

ANCHOR = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#]*\.md)#([^)]+)\)")


def blocks(page: Path) -> list[tuple[int, str]]:
    """(line of the page, code) of each block."""
    text = page.read_text()
    return [(text[: found.start()].count("\n") + 1, found[1]) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.relative_to(ROOT).name
)
def test_code_on_the_page_runs(page: Path) -> None:
    namespace: dict[str, Any] = {"__name__": f"docs_{page.stem}"}
    for line, code in blocks(page):
        # Blank lines in front make a traceback show the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = [to for to in LINK.findall(page.read_text()) if not (page.parent / to).exists()]

    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).name)
def test_links_lead_to_headings(page: Path) -> None:
    found = [(page.parent / to, anchor) for to, anchor in ANCHOR.findall(page.read_text())]

    assert not [f"{to.name}#{anchor}" for to, anchor in found if anchor not in anchors(to)]


def anchors(page: Path) -> set[str]:
    """What its headings are called in links, by GitHub's rule."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
