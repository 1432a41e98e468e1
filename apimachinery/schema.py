"""Group, version, kind and resource: the names of API types, alone and combined.

Every other module uses these five values, so this one depends on none of them. The printed forms
are a contract: they appear in error messages that clients parse.
"""

from __future__ import annotations

from dataclasses import dataclass

from apimachinery.fieldpath import printable

INTERNAL = "__internal"
"""The version of the internal (hub) types of a server; it never appears on the wire."""


class InvalidGroupVersion(ValueError):
    """An apiVersion that is not `version` or `group/version`."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(f"unexpected GroupVersion string: {text}"))
        self.text = text


@dataclass(frozen=True, slots=True, order=True)
class GroupVersion:
    """A version of an API group; the core group is the empty string."""

    group: str = ""
    version: str = ""

    @classmethod
    def parse(cls, text: str) -> GroupVersion:
        """Parse an apiVersion such as `v1` or `apps/v1`; raises InvalidGroupVersion."""
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
    """A kind in a group, in any version."""

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
    """The full name of a kind."""

    group: str = ""
    version: str = ""
    kind: str = ""

    @classmethod
    def from_api_version(cls, api_version: str, kind: str) -> GroupVersionKind:
        """Combine an object's apiVersion and kind; raises InvalidGroupVersion."""
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
        """The `apiVersion` of objects of this kind."""
        return str(self.group_version)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


@dataclass(frozen=True, slots=True, order=True)
class GroupResource:
    """A resource in a group, in any version; error messages name resources like this."""

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
    """The full name of a resource, which is served under one URL."""

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
    """Parse `resource` or `resource.group`."""
    resource, _, group = text.partition(".")
    return GroupResource(group, resource)


def parse_group_kind(text: str) -> GroupKind:
    """Parse `Kind` or `Kind.group`."""
    kind, _, group = text.partition(".")
    return GroupKind(group, kind)


def parse_resource_arg(text: str) -> tuple[GroupVersionResource | None, GroupResource]:
    """Parse a resource from a command line, with and without a version.

    `a.b.c` is either version b of group c or group b.c; the caller decides, by the groups that
    the server has.
    """
    return _with_version(text), parse_group_resource(text)


def parse_kind_arg(text: str) -> tuple[GroupVersionKind | None, GroupKind]:
    """Parse a kind from a command line, with and without a version."""
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
