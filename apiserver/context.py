"""RequestContext: the request as the registry and admission see it.

Handlers fill it in from the URL, the headers and the query string. It does not depend on HTTP, so
the server can use the registry for its own writes.
"""

from dataclasses import dataclass, field
from typing import Final

from apimachinery.errors import APIError
from apimachinery.schema import GroupVersionResource
from apiserver.auth.user import MASTERS, User
from apiserver.workload import Workload

SERVER: Final = User("system:apiserver", groups=(MASTERS,))
"""The user of the server's own writes."""

MAX_WARNINGS: Final = 256
"""The maximum number of warnings in one response; their total length is limited as well."""


@dataclass(slots=True)
class RequestContext:
    """One request for one resource."""

    user: User
    verb: str
    """get, list, watch, create, update, patch, delete, deletecollection or connect."""
    resource: GroupVersionResource
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    request_id: str = ""
    field_manager: str = ""
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)
    """Texts for Warning headers of the response."""
    stored: bytes | None = None
    """The bytes that the request has stored, so that the response need not encode them again."""
    workload: Workload = field(default_factory=Workload)
    """Runs the steps of the request whose cost depends on the size of its documents."""
    converted: dict[tuple[bytes, str], bytes | APIError] = field(default_factory=dict)
    """Documents that a webhook has converted for this request, by document and version."""

    def warn(self, text: str) -> None:
        if len(self.warnings) < MAX_WARNINGS and text not in self.warnings:
            self.warnings.append(text)


def context_for(
    verb: str,
    resource: GroupVersionResource,
    *,
    subresource: str = "",
    namespace: str = "",
    name: str = "",
) -> RequestContext:
    """Return the context of one of the server's own requests."""
    return RequestContext(
        SERVER,
        verb,
        resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
        field_manager="apiserver",
    )
