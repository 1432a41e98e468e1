"""The API server: the names that authors of groups import to define resources and strategies.

    from apiserver import STATUS, Column, Group, Resource, Strategy

`create_app(config)` builds the ASGI application of a configuration. `app.py` is where a request
begins; `docs/request-flow.md` follows it from there.
"""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apiserver.admission.chain import Attributes as Attributes
    from apiserver.admission.plugins import AdmissionPlugin as AdmissionPlugin
    from apiserver.admission.plugins import PluginFunctions as PluginFunctions
    from apiserver.auth.authorization import Authorizer as Authorizer
    from apiserver.auth.authorization import Decision as Decision
    from apiserver.auth.authorization import Rules as Rules
    from apiserver.auth.user import User as User
    from apiserver.context import RequestContext as RequestContext
    from apiserver.controlplane.standard_server import create_app as create_app
    from apiserver.group import ALL_VERBS as ALL_VERBS
    from apiserver.group import STATUS as STATUS
    from apiserver.group import Group as Group
    from apiserver.group import Resource as Resource
    from apiserver.group import ReviewHandler as ReviewHandler
    from apiserver.group import Subresource as Subresource
    from apiserver.group import SubresourceHandler as SubresourceHandler
    from apiserver.group import scale as scale
    from apiserver.http.request_info import RequestInfo as RequestInfo
    from apiserver.registry.allocation import Allocation as Allocation
    from apiserver.registry.allocation import Reservation as Reservation
    from apiserver.registry.cached_objects import CachedObjects as CachedObjects
    from apiserver.registry.strategy import Strategy as Strategy
    from apiserver.server_parts import ServerParts as ServerParts
    from apiserver.views.table import Column as Column
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "admission.chain": "Attributes",
            "admission.plugins": "AdmissionPlugin PluginFunctions",
            "auth.authorization": "Authorizer Decision Rules",
            "auth.user": "User",
            "context": "RequestContext",
            "controlplane.standard_server": "create_app",
            "group": (
                "ALL_VERBS Group Resource ReviewHandler STATUS Subresource SubresourceHandler scale"
            ),
            "http.request_info": "RequestInfo",
            "registry.allocation": "Allocation Reservation",
            "registry.cached_objects": "CachedObjects",
            "registry.strategy": "Strategy",
            "server_parts": "ServerParts",
            "views.table": "Column",
        },
    )
