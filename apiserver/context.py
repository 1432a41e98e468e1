"""Context: what a step below the handlers may know of the request it serves.

Handlers fill it in from the URL, the headers and the query; the registry and admission read it.
It knows nothing of HTTP, so the same steps serve calls that never came over a wire.
"""

from dataclasses import dataclass, field
from typing import Final

from apimachinery.schema import GroupVersionResource
from apiserver.auth.user import MASTERS, User

SERVER: Final = User("system:apiserver", groups=(MASTERS,))
"""Who the server is when it writes something itself."""


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
    """Texts for Warning headers; any step may add to them."""
    stored: bytes | None = None
    """What the request has written, as it is stored: the answer need not be encoded again."""

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def context_for(
    verb: str,
    resource: GroupVersionResource,
    *,
    subresource: str = "",
    namespace: str = "",
    name: str = "",
) -> RequestContext:
    """The context of something that the server does by itself."""
    return RequestContext(
        SERVER,
        verb,
        resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
        field_manager="apiserver",
    )
