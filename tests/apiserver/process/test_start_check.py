"""A start that would fail is refused before any worker exists, with every reason."""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from apiserver.__main__ import main
from apiserver.config import ServerConfig
from apiserver.process.checked_process import Assignment, CheckedProcess
from apiserver.process.start_check import check_start
from apiserver.process.start_report import StartRefused, StartReport

MISTAKES = """
from dataclasses import replace
from apis.gadgets.install import GADGETS

GOOD = GADGETS
BAD = replace(GADGETS, versions=("v3",), storage_version="v2")
STRANGE = replace(GADGETS, resources=(None,))
SHARING = replace(
    GADGETS,
    name="sharing.example.io",
    resources=tuple(replace(r, stored_as="nothing") for r in GADGETS.resources),
)
"""
WHY = "group 'gadgets.example.io': "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a module `mistakes`, and no settings in the environment."""
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    (tmp_path / "unfinished.py").write_text("GROUP = ")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "mistakes", raising=False)
    for name in list(os.environ):
        if name.startswith("APISERVER_"):
            monkeypatch.delenv(name)
    return tmp_path


def check_apart(config: ServerConfig) -> StartReport:
    """Check in a process of its own, which must never become a worker."""
    process = CheckedProcess.fork(lambda *_: os._exit(1))
    try:
        return process.check(config)
    finally:
        process.close()


def refusals(*groups: str) -> tuple[str, ...]:
    with pytest.raises(StartRefused) as refused:
        check_apart(ServerConfig(groups=groups))
    return refused.value.problems


def test_the_report_names_what_would_be_served(folder: Path) -> None:
    report = check_apart(ServerConfig(groups=("mistakes:GOOD",)))

    assert report.problems == ()
    assert report.served == (
        *("gadgets.example.io/v1", "gadgets.example.io/v1beta1", "v1 (core)"),
        "7 more groups",
    )
    assert "mistakes" not in sys.modules, "workers are forked from this process"


def test_several_groups_can_be_given_by_one_name(folder: Path) -> None:
    """The core group of KUBERNETES takes the place of the standard one."""
    (folder / "many.py").write_text("from apis.kubernetes import KUBERNETES as ALL")

    served = check_apart(ServerConfig(groups=("many:ALL", "mistakes:GOOD"))).served

    assert {"v1 (core)", "coordination.k8s.io/v1", "gadgets.example.io/v1"} < set(served)
    assert served[-1] == "3 more groups"


def test_a_process_that_has_ended_becomes_no_worker() -> None:
    """The master then forks another one."""
    process = CheckedProcess.fork(lambda *_: os._exit(1))
    os.kill(process.pid, signal.SIGKILL)
    os.waitpid(process.pid, 0)

    assert not process.assign(Assignment(1, os.getpid(), 0, {}, None), [0])


def test_a_process_that_is_not_needed_ends() -> None:
    process = CheckedProcess.fork(lambda *_: os._exit(1))

    process.close()

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_a_check_is_given_up_when_the_server_is_stopped(folder: Path) -> None:
    """A group may import for any time; the process that does so is killed."""
    (folder / "endless.py").write_text("import time\ntime.sleep(1000)")
    process = CheckedProcess.fork(lambda *_: os._exit(1))
    answers = iter([False, True])

    with pytest.raises(StartRefused, match="stopped during the check"):
        process.check(ServerConfig(groups=("endless:X",)), is_stopping=lambda: next(answers))
    process.close()

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_no_error_of_a_checked_process_returns_into_its_master(folder: Path) -> None:
    """It would be a second master, with the stack and the sockets of the first."""

    def become(*_: object) -> NoReturn:
        raise ValueError("no worker")

    process = CheckedProcess.fork(become)
    with open(os.devnull) as file:
        assert process.assign(Assignment(1, os.getpid(), 0, {}, None), [file.fileno()])
    _, status = os.waitpid(process.pid, 0)

    assert os.waitstatus_to_exitcode(status) == 1


def test_files_that_cannot_be_used_are_a_problem(folder: Path) -> None:
    (folder / "taken").write_text("a file")
    process = CheckedProcess.fork(lambda *_: os._exit(1))
    try:
        with pytest.raises(StartRefused, match="data folder: "):
            process.prepare_files(ServerConfig(data_dir=folder / "taken" / "data"))
    finally:
        process.close()


def test_all_groups_are_tried(folder: Path) -> None:
    importing, *problems = refusals("unfinished:GROUP", "mistakes:BAD", "mistakes:nothing")

    assert importing.startswith("group 'unfinished:GROUP': ")
    assert problems[0].startswith("group 'mistakes:nothing': module mistakes has no nothing")
    assert problems[1].startswith(f"{WHY}versions has 'v3', which has no kind in the scheme")
    assert problems[2].startswith(f"{WHY}storage_version is 'v2', which has no kind in the scheme")


def test_a_group_that_is_given_twice_is_a_problem(folder: Path) -> None:
    assert refusals("mistakes:GOOD", "mistakes:GOOD") == (f"{WHY[:-2]} is given twice",)


def test_a_group_of_ones_own_over_objects_that_nobody_stores_is_not_left_out(folder: Path) -> None:
    assert any(
        "stored as nothing, which no group stores" in why for why in refusals("mistakes:SHARING")
    )


def test_an_error_of_the_check_itself_is_a_problem(folder: Path) -> None:
    (problem,) = check_start(ServerConfig(groups=("mistakes:STRANGE",))).problems

    assert problem.startswith("checking the groups failed: AttributeError: ")


@pytest.mark.parametrize("command", ["serve", "check"])
def test_commands_print_each_problem_in_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, "mistakes:BAD"]) == 1

    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"apiserver: {WHY}versions has 'v3'")
    assert second.startswith(f"apiserver: {WHY}storage_version is 'v2'")
    assert not (folder / ".apiserver").exists()


def test_check_prints_ok(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mistakes:GOOD"]) == 0

    assert capsys.readouterr().out == "ok\n"
    assert not (folder / ".apiserver").exists()


def test_check_takes_the_groups_from_the_environment(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APISERVER_GROUPS", "mistakes:BAD")

    assert main(["check"]) == 1
    assert "versions has 'v3'" in capsys.readouterr().err


def test_admission_that_cannot_be_configured_is_a_problem(folder: Path) -> None:
    file = folder / "admission.yaml"
    file.write_text(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
        "plugins: [{name: Typo, configuration: {}}]\n"
    )

    with pytest.raises(StartRefused) as refused:
        check_apart(ServerConfig(admission_control_config_file=file))

    assert refused.value.problems == (
        f"{file}: plugins: the admission plugin Typo is not known to this server",
    )
