"""The hint that a server gives on an interpreter without optimizations."""

import sysconfig
from pathlib import Path

import pytest

from apiserver.process.python_build import HINT, build_arguments, build_hint

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("'--prefix=/root/.pyenv/versions/3.11.7' '--enable-shared'", HINT),
        ("'--enable-shared' '--enable-optimizations' '--with-lto'", ""),
        ("", ""),  # no Makefile, as on Windows: nothing is known
    ],
)
def test_an_interpreter_without_optimizations_is_named(arguments: str, hint: str) -> None:
    assert build_hint(arguments) == hint


def test_the_arguments_are_those_of_this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert build_arguments() == (sysconfig.get_config_var("CONFIG_ARGS") or "")

    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: None)
    assert build_arguments() == ""


def test_the_hint_is_one_line_and_the_page_that_it_names_explains_it() -> None:
    assert "\n" not in HINT
    assert "--enable-optimizations" in (ROOT / "docs/performance.md").read_text()
