"""The page about configuration knows every setting, by every name, with its default."""

import argparse
import re
from dataclasses import fields
from pathlib import Path

import pytest

from apiserver.commands import serve
from apiserver.config import SETTINGS, ServerConfig, Setting

PAGE = (Path(__file__).parent.parent / "docs/configuration.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("## Settings")[2].partition("\n## ")[0].splitlines()
    if "`APISERVER_" in line and line.startswith("|")
]
WORDS = {"groups": "none", "storage": "`store.sqlite` in the data folder"}
GENERATED = ("tls_cert_file", "tls_private_key_file", "service_account_signing_key_file")
WORDS |= dict.fromkeys(GENERATED, "generated")
WORDS |= {"api_audiences": "the issuers"}


def test_there_is_a_row_for_each_setting_in_order() -> None:
    assert [row[2] for row in ROWS] == [f"`{setting.name}`" for setting in SETTINGS]


@pytest.mark.parametrize(("setting", "row"), list(zip(SETTINGS, ROWS, strict=False)))
def test_a_row_has_the_names_and_the_default_of_its_setting(
    setting: Setting, row: list[str]
) -> None:
    flag, variable, _, default, _ = row

    assert flag == f"`{flag_of(setting)}`"
    assert variable == f"`{setting.variable}`"
    assert default == default_of(setting)


def test_the_flags_are_those_of_the_parser() -> None:
    parser = argparse.ArgumentParser()
    serve.add_settings(parser, positional="groups")
    known = {option for action in parser._actions for option in action.option_strings}

    named = set(re.findall(r"`(--[\w-]+)", PAGE.partition("## Other commands")[0]))

    assert named <= known
    assert {option for option in known if not option.startswith(("-h", "--h", "--no-"))} <= named


def flag_of(setting: Setting) -> str:
    if setting.name == "groups":
        return f"{setting.metavar} …"
    return setting.flag if setting.is_switch else f"{setting.flag} {setting.metavar}"


def default_of(setting: Setting) -> str:
    if setting.name in WORDS:
        return WORDS[setting.name]
    value = next(field.default for field in fields(ServerConfig) if field.name == setting.name)
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):
        value = ",".join(value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
