"""Definition: a stored CustomResourceDefinition as the server uses it.

It is parsed from the JSON of the object: the server imports no group, but it depends on the wire
format of this kind, as it does on that of namespaces.
"""

from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from apimachinery.structural.custom_kind import CustomKind
from apimachinery.structural.structural_schema import Schema
from apimachinery.version import sort_versions
from apiserver.webhook_call import WebhookService, WebhookTarget


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
    """The JSONPaths of the fields that a Scale shows."""

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
    """The warning of responses in a deprecated version."""


@dataclass(frozen=True, slots=True)
class DefinedWebhook:
    """The webhook that converts objects between the versions of a definition."""

    target: WebhookTarget
    review_versions: tuple[str, ...]
    """The versions of ConversionReview that it understands."""


@dataclass(frozen=True)
class Definition:
    """One custom resource.

    Plural and kind come from the spec, where they cannot change once the definition is established,
    so that no status can lead to the objects of another definition. The other names are the
    accepted ones of the status.
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
    webhook: DefinedWebhook | None = None
    """None if objects need not be converted, because versions differ in nothing but the name."""
    established: bool = False
    terminating: bool = False
    source: Any = field(default=None, compare=False, repr=False)
    """The spec and accepted names it was parsed from; equal sources serve equal resources."""

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
        """Compile the schemas of the kind."""
        return CustomKind(
            self.group,
            self.kind,
            {version.name: Schema(version.schema) for version in self.versions},
            self.storage_version,
            {
                version.name: tuple(path[1:] for path in version.selectable)
                for version in self.versions
            },
            by_webhook=self.webhook is not None,
        )


def parse_definition(document: Mapping[str, Any]) -> Definition:
    """Parse the document of a CustomResourceDefinition."""
    spec, status = document["spec"], document.get("status") or {}
    names, kind = status.get("acceptedNames") or {}, spec["names"]["kind"]
    conditions = status.get("conditions") or ()
    true = {condition["type"] for condition in conditions if condition["status"] == "True"}
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
        webhook=_webhook(spec.get("conversion") or {}),
        established="Established" in true,
        terminating="deletionTimestamp" in document["metadata"],
        source=(spec, names),
    )


def _webhook(conversion: Mapping[str, Any]) -> DefinedWebhook | None:
    if conversion.get("strategy") != "Webhook":
        return None
    webhook = conversion["webhook"]
    config = webhook["clientConfig"]
    bundle = b64decode(config.get("caBundle") or "")
    service = config.get("service")
    target = WebhookTarget(
        url=config.get("url") or "",
        service=_service(service) if service else None,
        ca_bundle=bundle if bundle.strip() else b"",
    )
    return DefinedWebhook(target, tuple(webhook["conversionReviewVersions"]))


def _service(service: Mapping[str, Any]) -> WebhookService:
    path, port = service.get("path") or "", service.get("port") or 443
    return WebhookService(service["namespace"], service["name"], path, port)


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
        selectable=tuple(field["jsonPath"] for field in version.get("selectableFields") or ()),
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
    replacements = _replacements(version["name"], spec["versions"])
    return f"{text}; use {group}/{replacements[0]} {kind}" if replacements else text


def _replacements(name: str, versions: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the more stable served versions that replace a deprecated one, the best first."""
    current = {
        version["name"]
        for version in versions
        if version["served"] and not version.get("deprecated")
    }
    ordered = sort_versions({*current, name})
    return ordered[: ordered.index(name)]
