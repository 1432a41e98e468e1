"""How API things are named: group, version, kind and resource, alone and together.

Every other module speaks in these five values, so they live apart from all of them and
know nothing but how Kubernetes writes them down. The printed forms are a contract: they
appear inside error messages that clients read.
"""

from __future__ import annotations

from dataclasses import dataclass

from apimachinery.fieldpath import printable

INTERNAL = "__internal"
"""The version of the hub type inside a server; no client ever sees it on the wire."""


class InvalidGroupVersion(ValueError):
    """An apiVersion that is not `version` or `group/version`."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(f"unexpected GroupVersion string: {text}"))
        self.text = text


@dataclass(frozen=True, slots=True, order=True)
class GroupVersion:
    """A version of an API group; the group of the core API is the empty string."""

    group: str = ""
    version: str = ""

    @classmethod
    def parse(cls, text: str) -> GroupVersion:
        """Read an apiVersion such as `v1` or `apps/v1`."""
        if text in ("", "/"):
            return cls()
        group, slash, version = text.partition("/")
        if not slash:
            return cls("", text)
        if "/" in version:
            raise InvalidGroupVersion(text)
        return cls(group, version)

    @property
    def empty(self) -> bool:
        return not (self.group or self.version)

    def with_kind(self, kind: str) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, kind)

    def with_resource(self, resource: str) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, resource)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True, order=True)
class GroupKind:
    """A kind of a group, whatever its version."""

    group: str = ""
    kind: str = ""

    @property
    def empty(self) -> bool:
        return not (self.group or self.kind)

    def with_version(self, version: str) -> GroupVersionKind:
        return GroupVersionKind(self.group, version, self.kind)

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


@dataclass(frozen=True, slots=True, order=True)
class GroupVersionKind:
    """The full name of a kind of object."""

    group: str = ""
    version: str = ""
    kind: str = ""

    @classmethod
    def from_api_version(cls, api_version: str, kind: str) -> GroupVersionKind:
        """Join the two fields every object starts with; a malformed one is refused."""
        return GroupVersion.parse(api_version).with_kind(kind)

    @property
    def empty(self) -> bool:
        return not (self.group or self.version or self.kind)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def api_version(self) -> str:
        """What objects of this kind carry in `apiVersion`."""
        return str(self.group_version)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


@dataclass(frozen=True, slots=True, order=True)
class GroupResource:
    """A resource of a group, whatever its version; what error messages name."""

    group: str = ""
    resource: str = ""

    @property
    def empty(self) -> bool:
        return not (self.group or self.resource)

    def with_version(self, version: str) -> GroupVersionResource:
        return GroupVersionResource(self.group, version, self.resource)

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


@dataclass(frozen=True, slots=True, order=True)
class GroupVersionResource:
    """The full name of a collection that is served under one URL."""

    group: str = ""
    version: str = ""
    resource: str = ""

    @property
    def empty(self) -> bool:
        return not (self.group or self.version or self.resource)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Resource={self.resource}"


def parse_group_resource(text: str) -> GroupResource:
    """Read `resource` or `resource.group`."""
    resource, _, group = text.partition(".")
    return GroupResource(group, resource)


def parse_group_kind(text: str) -> GroupKind:
    """Read `Kind` or `Kind.group`."""
    kind, _, group = text.partition(".")
    return GroupKind(group, kind)


def parse_resource_arg(text: str) -> tuple[GroupVersionResource | None, GroupResource]:
    """Read a resource as a person types it, in both ways it can be meant.

    `a.b.c` may be version b of group c, or group b.c; only who knows the groups can tell.
    """
    return _with_version(text), parse_group_resource(text)


def parse_kind_arg(text: str) -> tuple[GroupVersionKind | None, GroupKind]:
    """Read a kind as a person types it, in both ways it can be meant."""
    versioned = _with_version(text)
    if versioned is None:
        return None, parse_group_kind(text)
    return versioned.group_version.with_kind(versioned.resource), parse_group_kind(text)


def _with_version(text: str) -> GroupVersionResource | None:
    parts = text.split(".", 2)
    if len(parts) < 3:
        return None
    name, version, group = parts
    return GroupVersionResource(group, version, name)
