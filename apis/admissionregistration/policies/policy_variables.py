"""Policy variables: what the expressions of policies see of one write."""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.errors import APIError
from apimachinery.meta.unstructured import load_content
from apimachinery.schema import GroupVersionResource
from apis.admissionregistration.matching.admission_request import admission_request
from apis.admissionregistration.matching.reviewed_write import NAMESPACES, ReviewedWrite
from apis.admissionregistration.policies.write_evaluation import WriteEvaluation
from apiserver import ServerParts
from apiserver.served_versions import ServedVersion
from apiserver.storage.cache.read_revision import Freshness

_HIDDEN: Final = ("managedFields", "ownerReferences", "selfLink")
_MOST_KEPT: Final = 256
"""Namespaces that are kept."""
_NAMESPACE: Final = GroupVersionResource("", "v1", "namespaces")


class NamespaceDocuments:
    """Namespaces as expressions see them (`namespaceObject`), kept until they change."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._kept: dict[str, tuple[int, Mapping[str, Any]]] = {}

    async def find(self, name: str) -> Mapping[str, Any]:
        """Return a namespace. Raises NotFound."""
        store = self._parts.find_store(NAMESPACES)
        try:
            entry = await store.get(name, at=Freshness.ANY)
        except APIError:
            entry = await store.get(name, at=Freshness.NEWEST)
        known = self._kept.get(name)
        if known is not None and known[0] == entry.revision:
            return known[1]
        document = load_content(self._parts.versions.encode(store.decode(entry), _NAMESPACE))
        metadata = {key: value for key, value in document["metadata"].items() if key not in _HIDDEN}
        parts: dict[str, Any] = {
            key: document[key] for key in ("spec", "status") if key in document
        }
        shown: Mapping[str, Any] = {"metadata": metadata, **parts}
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[name] = entry.revision, shown
        return shown


class PolicyVariables:
    """The variables of expressions by their names, except `params`."""

    def __init__(
        self,
        write: ReviewedWrite,
        evaluation: WriteEvaluation,
        namespaces: NamespaceDocuments,
    ) -> None:
        self._write = write
        self._namespaces = namespaces
        self._authorizer = evaluation.authorizer_variables()
        self._requests: dict[ServedVersion, Mapping[str, Any]] = {}
        self._namespace: Any = None
        self._has_namespace = False

    async def values(self, shown: ServedVersion) -> dict[str, Any]:
        """Return the variables, with the object in a version. Raises NotFound."""
        write = self._write
        if shown not in self._requests:
            self._requests[shown] = admission_request(write, shown)
        return {
            "object": await write.content(shown),
            "oldObject": await write.content(shown, old=True),
            "request": self._requests[shown],
            "namespaceObject": await self._namespace_object(),
            **self._authorizer,
        }

    async def _namespace_object(self) -> Any:
        write = self._write
        if not self._has_namespace:
            if write.namespace and not write.is_namespace:
                self._namespace = await self._namespaces.find(write.namespace)
            self._has_namespace = True
        return self._namespace
