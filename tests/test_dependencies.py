"""Dependencies: each is explained, locked, bounded, and optional where it can be."""

import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import BaseModel

from apimachinery.extras import EXTRAS

ROOT = Path(__file__).parent.parent
PACKAGES = ("apimachinery", "apiserver", "apis", "client")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BASE = [Requirement(text) for text in PROJECT["dependencies"]]
OPTIONAL = {
    extra: [Requirement(text) for text in texts]
    for extra, texts in PROJECT["optional-dependencies"].items()
}
REQUIREMENTS = [
    requirement
    for requirement in (*BASE, *(item for items in OPTIONAL.values() for item in items))
    if requirement.name != PROJECT["name"]
]
NAMES = sorted({requirement.name for requirement in REQUIREMENTS})
MODULES = {
    "cel-expr-python": "cel_expr_python",
    "google-re2": "re2",
    "grpcio": "grpc",
    "PyJWT": "jwt",
    "aiohttp-socks": "aiohttp_socks",
    "pytest-asyncio": "pytest_asyncio",
}
"""Distribution -> the module it installs, where the two differ."""
IF_INSTALLED = {"uvloop"}
"""Distributions that are used where they exist."""

# (distribution, class) -> its private parts that our code depends on. pyproject.toml bounds the
# version of each distribution. When a test here fails after an upgrade, a part has moved: read its
# new source, change our code, then move the bound. An empty distribution is Python itself.
PRIVATE: dict[tuple[str, str], str] = {
    # the start may take longer than gunicorn's half minute
    ("gunicorn", "gunicorn.asgi.lifespan:LifespanManager"): (
        "_receive_queue _run_lifespan _startup_complete _startup_error _startup_failed _task"
    ),
    # a process that has checked the configuration becomes a worker, and is named like the others
    ("gunicorn", "gunicorn.app.base:util"): "_setproctitle",
    # requests are logged by the application
    ("gunicorn", "gunicorn.glogging:Logger"): "_compute_access_log_enabled",
    # one Warning header for each warning, in UTF-8
    ("falcon", "falcon.asgi:Response"): "_asgi_headers _extra_headers",
    # the headers of a request, joined as far as they may be repeated
    ("falcon", "falcon.asgi:Request"): "_asgi_headers",
    # documented as the methods to override
    ("marshmallow", "marshmallow.fields:Field"): "_deserialize _serialize",
    # the chain of a client certificate; public since Python 3.13
    ("", "ssl:SSLObject"): "_sslobj",
    # the type of the members of an enumeration, for values that it no longer has
    ("", "enum:Enum"): "_member_type_",
    # whether any task is ready to run; the fake clock counts turns on loops without it
    ("", "asyncio:BaseEventLoop"): "_ready",
}
PYDANTIC = frozenset(
    f"__pydantic_{name}__"
    for name in (
        *("complete", "core_schema", "decorators", "extra", "fields", "fields_complete"),
        *("fields_set", "generic_metadata", "init_subclass", "private", "serializer"),
        "validator",
    )
)
"""Class attributes of BaseModel, which pydantic documents but calls private."""
FRAMEWORKS = re.compile(r"^(from|import) (gunicorn|falcon)\b", re.MULTILINE)


def locked(section: str) -> dict[str, Requirement]:
    text = (ROOT / "requirements.lock").read_text()
    found = re.search(rf"^# {section}\n(.*?)^# end", text, re.MULTILINE | re.DOTALL)
    assert found
    pins = re.findall(r"^(\S+==.*?) \\$", found[1], re.MULTILINE)
    return {canonicalize_name(Requirement(pin).name): Requirement(pin) for pin in pins}


def closure(extra: str) -> set[str]:
    """The names that an extra requires, through the extras of this project that it includes."""
    names: set[str] = set()
    for requirement in OPTIONAL[extra]:
        if requirement.name == PROJECT["name"]:
            names |= {name for inner in requirement.extras for name in closure(inner)}
        else:
            names.add(canonicalize_name(requirement.name))
    return names


@pytest.mark.parametrize("name", NAMES)
def test_the_page_on_dependencies_says_why(name: str) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text()

    assert re.search(rf"\b{re.escape(name)}\b", page)


# The lock file


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_the_locked_version_is_one_that_the_project_allows(requirement: Requirement) -> None:
    pins = locked("serving") | locked("development")

    pinned = pins[canonicalize_name(requirement.name)]
    (version,) = (specifier.version for specifier in pinned.specifier)
    assert requirement.specifier.contains(version), "make lock"


def test_serving_installs_what_serving_needs_and_no_tools() -> None:
    base = {canonicalize_name(requirement.name) for requirement in BASE}
    wanted = base | closure("server") | closure("etcd") | closure("cel")

    serving, development = locked("serving"), locked("development")
    assert wanted <= serving.keys()
    assert (closure("dev") - wanted) <= development.keys()
    assert not serving.keys() & development.keys()


def test_every_locked_package_has_hashes_and_no_place() -> None:
    text = (ROOT / "requirements.lock").read_text()

    entries = re.findall(r"^\S+==.*\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\S+==", text, re.MULTILINE)) > 0
    assert "://" not in text


# Extras


def test_the_modules_of_extras_are_those_of_the_project() -> None:
    declared = {
        MODULES.get(requirement.name, requirement.name): extra
        for extra in ("testing", "socks", "server", "etcd", "cel")
        for requirement in OPTIONAL[extra]
        if requirement.name not in (PROJECT["name"], *IF_INSTALLED)
    }

    assert declared == EXTRAS


# Private parts


@pytest.mark.parametrize(
    ("owner", "names"), [(place, names) for (_, place), names in PRIVATE.items()]
)
def test_private_parts_are_where_they_were(owner: str, names: str) -> None:
    module, _, name = owner.partition(":")
    cls = getattr(importlib.import_module(module), name)

    moved = [part for part in names.split() if not has_part(cls, part)]
    assert not moved


def test_pydantic_has_the_attributes_that_models_use() -> None:
    class Probe(BaseModel):
        size: int = 0

    used = {name for text in sources() for name in re.findall(r"__pydantic_\w+__", text)}
    assert used == PYDANTIC
    assert [name for name in used if not (hasattr(Probe(), name) or hasattr(Probe, name))] == []
    assert {"__pydantic_fields_set__", "__pydantic_extra__"} <= set(BaseModel.__slots__)


def test_every_private_part_of_a_base_class_is_listed() -> None:
    listed = set(" ".join(PRIVATE.values()).split())

    derived = list(derived_classes())
    assert len(derived) >= 6
    assert {cls.__name__: inherited_parts(cls) - listed for cls in derived} == {
        cls.__name__: set() for cls in derived
    }


def test_every_private_part_of_another_object_is_listed() -> None:
    """Reads `x._part` where no class or module of ours has a part of that name."""
    trees = [ast.parse(text) for text in sources()]
    own = {name for tree in trees for name in defined_names(tree)}
    used = {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr)
    }
    # The methods of named tuples begin with an underscore so as not to clash with fields.
    # Frames of threads are a documented part of sys, and the end of a forked process one of os.
    public = {"_asdict", "_replace", "_current_frames", "_getframe", "_exit"}

    assert used - own - public <= set(" ".join(PRIVATE.values()).split())


@pytest.mark.parametrize("name", sorted({name for name, _ in PRIVATE if name} | {"pydantic"}))
def test_a_dependency_with_private_parts_in_use_has_an_upper_bound(name: str) -> None:
    bounds = [r.specifier for r in REQUIREMENTS if r.name == name]

    assert bounds
    assert all(any(item.operator == "<" for item in bound) for bound in bounds)


def has_part(cls: type, part: str) -> bool:
    """Whether a class has an attribute, or sets one on its instances."""
    return hasattr(cls, part) or re.search(rf"\bself\.{part}\b", source_of(cls)) is not None


@cache
def source_of(cls: type) -> str:
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):  # a class in C
        return ""


def derived_classes() -> Iterator[type]:
    """The classes of ours that inherit from a class of gunicorn or falcon."""
    for path in paths():
        if FRAMEWORKS.search(path.read_text()):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for cls in vars(importlib.import_module(module)).values():
                if inspect.isclass(cls) and cls.__module__ == module and foreign_bases(cls):
                    yield cls


def foreign_bases(cls: type) -> list[type]:
    return [base for base in cls.__mro__[1:] if base.__module__.startswith(("gunicorn", "falcon"))]


def inherited_parts(cls: type) -> set[str]:
    """The private parts of its foreign bases that a class overrides or uses."""
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.name
        for node in ast.walk(ast.parse(inspect.getsource(cls)))
        if isinstance(node, ast.Attribute | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return {
        name
        for name in names
        if re.match("_[a-z]", name) and any(has_part(base, name) for base in foreign_bases(cls))
    }


def paths() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def sources() -> list[str]:
    return [path.read_text() for path in paths()]


def defined_names(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names
