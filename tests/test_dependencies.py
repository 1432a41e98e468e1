"""Every dependency is explained."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(found for extra in PROJECT["optional-dependencies"].values() for found in extra),
]
NAMES = sorted({re.split(r"[\[<>=;! ]", found)[0] for found in REQUIREMENTS} - {PROJECT["name"]})


@pytest.mark.parametrize("name", NAMES)
def test_the_page_on_dependencies_says_why(name: str) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text()

    assert re.search(rf"\b{re.escape(name)}\b", page)
