"""The files that drive this suite: manifests, invalid manifests, and facts about Kubernetes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from apiserver.group import Group, Resource
from tests.apis.groups import GROUPS

FOLDER: Final = Path(__file__).parent
STREAMED: Final = frozenset(("attach", "exec", "log", "portforward", "proxy"))
"""Subresources that a node answers, and not the server."""


def group_folder(group: str) -> str:
    return group or "core"


@dataclass(frozen=True)
class Manifest:
    """A manifest file: an object, after the objects that it needs."""

    path: Path
    needed: tuple[Mapping[str, Any], ...]
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.path.relative_to(FOLDER / "manifests").as_posix().removesuffix(".yaml")

    @property
    def defaulted(self) -> Any:
        """What the server makes of a minimal manifest."""
        return yaml.safe_load(
            self.path.with_name(self.path.name.replace(".minimal.", ".defaulted.")).read_text()
        )


@dataclass(frozen=True)
class InvalidCase:
    """One mistake in a manifest, or in an update, and the answer to it."""

    kind: str
    minimal: Manifest
    fields: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.fields['name']}"


def read_manifest(path: Path) -> Manifest:
    *needed, document = yaml.safe_load_all(path.read_text())
    return Manifest(path, tuple(needed), document)


@cache
def manifests(form: str) -> tuple[Manifest, ...]:
    """All manifests of a form, "minimal" or "full"; a kind may have several."""
    paths = sorted((FOLDER / "manifests").rglob(f"*.{form}*.yaml"))
    return tuple(read_manifest(path) for path in paths)


def invalid_cases() -> Iterator[InvalidCase]:
    for path in sorted((FOLDER / "invalid").rglob("*.yaml")):
        folder = FOLDER / "manifests" / path.parent.name
        minimal = read_manifest(folder / f"{path.stem}.minimal.yaml")
        for fields in yaml.safe_load(path.read_text()):
            yield InvalidCase(path.stem, minimal, fields)


@cache
def facts() -> Mapping[str, Any]:
    """What Kubernetes says of its groups, by name."""
    read: Mapping[str, Any] = yaml.safe_load((FOLDER / "kubernetes.yaml").read_text())
    return {"" if name == "core" else name: group for name, group in read.items()}


def kubernetes_groups() -> list[Group]:
    return [group for group in GROUPS if group.name in facts()]


def stored_resources() -> Iterator[tuple[Group, Resource]]:
    """The resources that have objects, and so manifests."""
    for group in kubernetes_groups():
        for resource in group.resources:
            if resource.is_stored and "create" in resource.verbs:
                yield group, resource
