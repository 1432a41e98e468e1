"""The API server: the names that authors of groups import to define resources and strategies.

    from apiserver import STATUS, Column, Group, Resource, Strategy

`create_app(config)` builds the ASGI application of a configuration. `app.py` is where a request
begins; `docs/request-flow.md` follows it from there.
"""

from typing import TYPE_CHECKING, Any

from apiserver.admission.chain import Attributes
from apiserver.auth.authorization import Authorizer, Decision, Rules
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.group import (
    ALL_VERBS,
    STATUS,
    Group,
    Resource,
    ReviewHandler,
    Subresource,
    SubresourceHandler,
    scale,
)
from apiserver.http.request_info import RequestInfo
from apiserver.registry.allocation import Allocation, Reservation
from apiserver.registry.strategy import Strategy
from apiserver.server_parts import ServerParts
from apiserver.views.table import Column

if TYPE_CHECKING:
    from apiserver.controlplane.standard_server import create_app

__all__ = [
    "ALL_VERBS",
    "STATUS",
    "Allocation",
    "Attributes",
    "Authorizer",
    "Column",
    "Decision",
    "Group",
    "RequestContext",
    "RequestInfo",
    "Reservation",
    "Resource",
    "ReviewHandler",
    "Rules",
    "ServerParts",
    "Strategy",
    "Subresource",
    "SubresourceHandler",
    "User",
    "create_app",
    "scale",
]


def __getattr__(name: str) -> Any:
    # Imported late: the groups that a server is composed of import parts of this package.
    if name == "create_app":
        from apiserver.controlplane.standard_server import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
