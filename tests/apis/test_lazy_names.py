"""Importing one class does not import what it does not need, and type checkers see every name."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGES = [
    path
    for package in ("apimachinery", "apiserver", "apis")
    for path in sorted((ROOT / package).rglob("__init__.py"))
    if "lazy_names" in path.read_text()
]
FRONTS = [ROOT / name / "__init__.py" for name in ("apimachinery", "client")]


def package_name(path: Path) -> str:
    return ".".join(path.parent.relative_to(ROOT).parts)


@pytest.mark.parametrize("path", PACKAGES, ids=package_name)
def test_type_checkers_and_python_see_the_same_names(path: Path) -> None:
    package = import_module(package_name(path))
    declared = {
        alias.asname: node.module
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.asname
    }

    assert set(package.__all__) == set(declared)
    for name, module in declared.items():
        value = getattr(package, name)
        assert value is getattr(import_module(module), name)
        # A name that is defined elsewhere would be imported through the module that imports it.
        if isinstance(value, type | FunctionType):
            assert value.__module__ == module


@pytest.mark.parametrize("path", FRONTS, ids=package_name)
def test_the_front_of_a_library_has_the_names_of_its_modules(path: Path) -> None:
    package = import_module(package_name(path))
    declared = {
        alias.asname: str(node.module)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }

    assert package.__all__ == sorted(declared)
    for name, module in declared.items():
        assert getattr(package, name) is getattr(import_module(module), name)


@pytest.mark.parametrize("path", [*PACKAGES, *FRONTS], ids=package_name)
def test_an_unknown_name_is_an_attribute_error(path: Path) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        import_module(package_name(path)).Nonsense  # noqa: B018


def imported_by(statement: str) -> set[str]:
    """The modules of this project that a statement imports."""
    program = f"{statement}\nimport sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name for name in run.stdout.split() if name.split(".")[0] in ("apis", "apiserver")}


def test_a_class_brings_only_what_it_needs() -> None:
    assert imported_by("from apis.core.v1 import ConfigMap") == {
        *("apis", "apis.core", "apis.core.v1", "apis.core.v1.config_map")
    }


def test_a_pod_brings_no_other_kind_and_no_server() -> None:
    modules = imported_by("from apis.core.v1 import Pod")

    assert "apis.core.v1.pod" in modules
    assert modules.isdisjoint(
        f"apis.core.v1.{name}" for name in ("node", "service", "event", "namespace", "secret")
    )
    assert not [name for name in modules if name.startswith("apiserver")]


def test_the_small_server_imports_no_other_kind() -> None:
    modules = imported_by("import apiserver.controlplane.standard_server")

    assert "apis.core.v1.config_map" in modules
    assert modules.isdisjoint(
        ("apis.kubernetes", "apis.core.v1.pod", "apis.core.register_full", "apis.apps")
    )
