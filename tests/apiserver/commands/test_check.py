"""`apiserver check` with a store: what later code makes of the stored objects."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from apiserver.__main__ import main
from apiserver.storage.backends import open_backend
from tests.apiserver.commands.conftest import contents, fill
from tests.apiserver.evolution.releases import GROUP, NAME, Api

RED = f"/registry/{GROUP}/lamps/default/red"


async def lamps(api: Api) -> None:
    await api.create("red", color="red", watts=40)
    await api.create("blue", color="blue", watts=200)
    await api.create("plain")


def check(
    capsys: pytest.CaptureFixture[str], store: str, release: str, *flags: str
) -> tuple[int, Any]:
    """Check a release, and return the exit code and the report."""
    arguments = ["check", f"shop:{release}", "--storage", store, "-o", "json", *flags]
    capsys.readouterr()
    code = main(arguments)
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, orjson.loads(captured.out)


def counts(report: Any) -> dict[str, int]:
    (lamps,) = [kind for kind in report["kinds"] if kind["resource"] == NAME]
    return {outcome: count for outcome, count in lamps["counts"].items() if count}


def findings(report: Any) -> dict[tuple[str, str], Any]:
    return {
        (found["outcome"], found["path"]): found
        for kind in report["kinds"]
        for found in kind["findings"]
    }


def test_every_kind_of_change(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(store, lamps)
    before = contents(store)

    code, same = check(capsys, store, "SAME", "--strict")
    assert (code, counts(same), same["verdict"]) == (0, {"fine": 3}, "ok")

    code, added = check(capsys, store, "ADDED", "--strict")
    assert (code, counts(added), findings(added)) == (0, {"upgraded": 3}, {})

    code, renamed = check(capsys, store, "RENAMED", "--strict")
    assert (code, counts(renamed)) == (0, {"upgraded": 3})

    code, gone = check(capsys, store, "GONE")
    assert (code, counts(gone)) == (1, {"upgraded": 1, "losing": 2})
    lost = findings(gone)["losing", "spec.color"]
    assert [example["object"] for example in lost["examples"]] == ["default/blue", "default/red"]
    assert "the field spec.color is gone, and 2 stored objects have a value" in gone["problems"][0]

    flag = f"--accept-field-loss={NAME}/spec.color"
    code, accepted = check(capsys, store, "GONE", flag)
    assert (code, counts(accepted)) == (0, {"upgraded": 3})

    code, retyped = check(capsys, store, "RETYPED")
    assert (code, counts(retyped)) == (1, {"upgraded": 1, "unreadable": 2})
    assert "spec.color" in findings(retyped)["unreadable", ""]["examples"][0]["message"]

    assert contents(store) == before, "nothing is written"


def test_values_that_todays_rules_refuse(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(store, lamps)

    code, report = check(capsys, store, "STRICTER")
    strict, _ = check(capsys, store, "STRICTER", "--strict")

    assert (code, strict, counts(report)) == (0, 1, {"refused": 3})
    found = findings(report)
    assert found["refused", "spec.maker"]["objects"] == 3
    assert found["refused", "spec.maker"]["examples"][0]["message"] == "spec.maker: Required value"
    assert found["refused", "spec.watts"]["examples"] == [
        {"object": "default/blue", "message": "spec.watts: Invalid value: 200: is a heater"}
    ]
    assert [each["object"] for each in found["refused", "spec.color"]["examples"]] == [
        "default/blue"
    ]


def test_a_table_with_examples_for_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    fill(store, lamps)
    asyncio.run(_write(store, "/registry/other.example.io/widgets/default/w", b"{}"))
    asyncio.run(_write(store, RED.replace("red", "odd"), b'{"kind":"Lamp"'))
    capsys.readouterr()

    assert main(["check", "shop:GONE", "--storage", store]) == 1

    title, *lines = capsys.readouterr().out.splitlines()
    assert title.split()[:4] == ["RESOURCE", "OBJECTS", "FINE", "UPGRADED"]
    assert [NAME, "4", "0", "1", "0", "0", "2", "1"] in [line.split() for line in lines]
    assert "  spec.color: 2 objects (default/blue, default/red)" in lines
    assert any(line.startswith("    default/odd: ") for line in lines)
    assert "  widgets.other.example.io: 1 object" in lines
    assert lines[-1] == (
        "not ok: a start would be refused; 2 objects would lose fields; 1 object cannot be read;"
        " 1 object to be upgraded when read"
    )


def test_a_store_that_does_not_exist_is_not_created(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "shop:SAME", "--storage", "sqlite:///typo.sqlite"]) == 1

    assert "there is no store; check its URL" in capsys.readouterr().err
    assert not (tmp_path / "typo.sqlite").exists()


def test_objects_from_before_the_catalogue_are_compared_with_the_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    head = f'{{"kind":"Lamp","apiVersion":"{GROUP}/__internal","metadata":{{"name":"red"}}'
    asyncio.run(_write(store, RED, f'{head},"spec":{{"color":"red"}}}}'.encode()))

    assert check(capsys, store, "SAME")[0] == 0
    code, report = check(capsys, store, "GONE")

    assert (code, counts(report)) == (1, {"losing": 1})


async def _write(store: str, key: str, value: bytes) -> None:
    backend = await open_backend(store)
    await backend.create(key, value)
    await backend.close()
