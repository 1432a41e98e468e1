"""Definition: what a stored CustomResourceDefinition says, as the server needs it.

It is read from the JSON of the object: the server knows no group, but this one contract it has to
know, as it knows that of namespaces.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from apimachinery.schema import GroupVersionResource
from apimachinery.structural.custom_kind import CustomKind
from apimachinery.structural.structural_schema import Schema
from apimachinery.version import sort_versions

DEFINITIONS: Final = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of `kubectl get`."""

    name: str
    type: str
    path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where the numbers of a scale are."""

    spec: str
    status: str
    selector: str = ""


@dataclass(frozen=True, slots=True)
class DefinedVersion:
    """One version of a custom resource."""

    name: str
    served: bool
    storage: bool
    schema: Mapping[str, Any]
    has_status: bool = False
    scale: ScalePaths | None = None
    columns: tuple[ColumnDefinition, ...] = ()
    selectable: tuple[str, ...] = ()
    warning: str = ""
    """What answers in a deprecated version carry."""


@dataclass(frozen=True)
class Definition:
    """One custom resource.

    Plural and kind are those of the specification, where they cannot change once it is
    established, so that nothing a status says leads to the objects of another definition.
    The other names are those that were accepted.
    """

    group: str
    plural: str
    singular: str
    kind: str
    list_kind: str
    namespaced: bool
    versions: tuple[DefinedVersion, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    established: bool = False
    terminating: bool = False
    source: Any = field(default=None, compare=False, repr=False)
    """What it was read from; equal sources make equal resources."""

    @property
    def name(self) -> str:
        return f"{self.plural}.{self.group}"

    @cached_property
    def served(self) -> tuple[DefinedVersion, ...]:
        """The served versions, the most stable first."""
        by_name = {version.name: version for version in self.versions if version.served}
        return tuple(by_name[name] for name in sort_versions(by_name))

    @property
    def storage_version(self) -> str:
        return next(version.name for version in self.versions if version.storage)

    def custom_kind(self) -> CustomKind:
        """The kind with its schemas compiled."""
        return CustomKind(
            self.group,
            self.kind,
            {version.name: Schema(version.schema) for version in self.versions},
            self.storage_version,
            {
                version.name: tuple(path[1:] for path in version.selectable)
                for version in self.versions
            },
        )


def parse_definition(document: Mapping[str, Any]) -> Definition:
    """The definition in the document of a CustomResourceDefinition."""
    spec, status = document["spec"], document.get("status") or {}
    names, kind = status.get("acceptedNames") or {}, spec["names"]["kind"]
    true = {found["type"] for found in status.get("conditions") or () if found["status"] == "True"}
    return Definition(
        group=spec["group"],
        plural=spec["names"]["plural"],
        singular=names.get("singular", ""),
        kind=kind,
        list_kind=names.get("listKind") or f"{kind}List",
        namespaced=spec["scope"] == "Namespaced",
        versions=tuple(_version(spec, version) for version in spec["versions"]),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        established="Established" in true,
        terminating="deletionTimestamp" in document["metadata"],
        source=(spec, names),
    )


def _version(spec: Mapping[str, Any], version: Mapping[str, Any]) -> DefinedVersion:
    subresources = version.get("subresources") or {}
    scale = subresources.get("scale")
    return DefinedVersion(
        name=version["name"],
        served=version["served"],
        storage=version["storage"],
        schema=(version.get("schema") or {}).get("openAPIV3Schema") or _ANYTHING,
        has_status="status" in subresources,
        scale=_scale(scale) if scale else None,
        columns=tuple(map(_column, version.get("additionalPrinterColumns") or ())),
        selectable=tuple(found["jsonPath"] for found in version.get("selectableFields") or ()),
        warning=_warning(spec, version) if version.get("deprecated") else "",
    )


_ANYTHING: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _scale(scale: Mapping[str, Any]) -> ScalePaths:
    return ScalePaths(
        scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or ""
    )


def _column(column: Mapping[str, Any]) -> ColumnDefinition:
    return ColumnDefinition(
        column["name"],
        column["type"],
        column["jsonPath"],
        column.get("format", ""),
        column.get("description", ""),
        column.get("priority", 0),
    )


def _warning(spec: Mapping[str, Any], version: Mapping[str, Any]) -> str:
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    group, kind = spec["group"], spec["names"]["kind"]
    text = f"{group}/{version['name']} {kind} is deprecated"
    better = _better_versions(version["name"], spec["versions"])
    return f"{text}; use {group}/{better[0]} {kind}" if better else text


def _better_versions(name: str, versions: Iterable[Mapping[str, Any]]) -> list[str]:
    """The versions to use instead of a deprecated one, the best first."""
    good = {found["name"] for found in versions if found["served"] and not found.get("deprecated")}
    ordered = sort_versions({*good, name})
    return ordered[: ordered.index(name)]
