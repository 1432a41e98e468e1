"""The architecture page leads to files that exist, and leaves out no folder."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/architecture.md").read_text()
PACKAGES = ("apimachinery", "apiserver", "client")


def test_every_path_on_the_page_exists() -> None:
    named = re.findall(r"`((?:apimachinery|apiserver|apis|client|tests|docs)/[\w/.]*)`", PAGE)

    assert len(named) > 100
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_folder_is_on_the_page() -> None:
    folders = {
        f"{path.parent.relative_to(ROOT)}/"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }

    assert sorted(folder for folder in folders if f"`{folder}`" not in PAGE) == []


def test_the_files_of_a_folder_are_in_that_folder() -> None:
    """A row such as `apiserver/http/` | `gate.py` names files without repeating the folder."""
    missing = []
    for folder, story in re.findall(r"^\| `([\w/]+/)` \| (.+) \|$", PAGE, re.MULTILINE):
        for file in re.findall(r"`(\w+\.py)`", story):
            if not (ROOT / folder / file).exists():
                missing.append(folder + file)
    assert missing == []
