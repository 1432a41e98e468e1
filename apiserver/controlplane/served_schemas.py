"""Served schemas: the kinds of resources and their OpenAPI schemas, for type checks of expressions.

They come from the groups that are installed in this process, which costs no request.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apimachinery.openapi.definitions import Definitions, PublishedKind
from apimachinery.openapi.dialect import V3
from apimachinery.schema import GroupVersionKind, GroupVersionResource
from apiserver.install import Groups

Schema = Mapping[str, Any]


class ServedSchemas:
    """The schemas of one server process."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def kinds(self, resource: GroupVersionResource) -> Sequence[GroupVersionKind]:
        """Return the kind of a resource in a version, nothing if it is not served."""
        endpoints = self._groups.version(resource.group, resource.version) or {}
        endpoint = endpoints.get(resource.resource)
        return () if endpoint is None else (endpoint.kind,)

    def find(self, kind: GroupVersionKind) -> tuple[Schema, Mapping[str, Schema]] | None:
        """Return the schema of a kind, with those that it refers to; None if it is not served."""
        endpoints = self._groups.version(kind.group, kind.version) or {}
        cls = next((each.cls for each in endpoints.values() if each.kind == kind), None)
        if cls is None:
            return None
        definitions = Definitions(V3, [PublishedKind(kind, cls)])
        return definitions.reference(kind), definitions.schemas()
