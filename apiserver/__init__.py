"""The API server: what a group's author imports to describe resources and to write their rules.

    from apiserver import STATUS, Column, Group, Resource, Strategy

`app.py` is where a request begins; `docs/request-flow.md` follows it from there.
"""

from apiserver.admission.chain import Attributes
from apiserver.auth.authorization import Authorizer, Decision
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
from apiserver.registry.strategy import Strategy
from apiserver.views.table import Column

__all__ = [
    "ALL_VERBS",
    "STATUS",
    "Attributes",
    "Authorizer",
    "Column",
    "Decision",
    "Group",
    "RequestContext",
    "RequestInfo",
    "Resource",
    "ReviewHandler",
    "Strategy",
    "Subresource",
    "SubresourceHandler",
    "User",
    "scale",
]
