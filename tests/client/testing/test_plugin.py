"""The pytest plugin, in projects that use it and in projects that only have it installed."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent.parent.parent
CONFIGURATION = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
apimachinery_groups = apis.gadgets.install:GADGETS
"""
USES_ENV = """
async def test_it(env):
    pass
"""


def run(project: pytest.Pytester) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "no:cacheprovider")


def test_env_and_clock_are_fixtures(pytester: pytest.Pytester) -> None:
    pytester.makeini(CONFIGURATION)
    pytester.makepyfile(
        """
        from apis.gadgets.v1 import Gadget

        async def test_it(env, clock):
            assert env.clock is clock
            await env.client.of(Gadget).create({"metadata": {"name": "a"}, "spec": {"model": "m"}})
            assert (await env.get(Gadget, "a")).spec.model == "m"
        """
    )

    run(pytester).assert_outcomes(passed=1)


def test_the_plugin_loads_neither_client_nor_server_nor_hypothesis() -> None:
    unwanted = ("client", "apiserver", "apis", "hypothesis")
    script = f"""
import sys, apimachinery.testing.plugin
print([name for name in {unwanted!r} if name in sys.modules])
"""
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert loaded.stdout == b"[]\n"


@pytest.mark.parametrize("package", ["client", "apis"])
def test_a_project_may_have_a_package_of_that_name(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", f".:{ROOT}")
    pytester.mkpydir(package)
    pytester.makepyfile(
        f"""
        import {package}
        from pathlib import Path

        def test_it():
            assert Path({package}.__file__).parent.parent == Path.cwd()
        """
    )

    run(pytester).assert_outcomes(passed=1)


@pytest.mark.parametrize("package", ["client", "apis"])
def test_env_names_the_package_in_the_way(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", f".:{ROOT}")
    pytester.makeini(CONFIGURATION)
    folder = pytester.mkpydir(package)
    pytester.makepyfile(USES_ENV)

    result = run(pytester)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*need its package '{package}', but {folder} is imported*"])
