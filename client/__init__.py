"""Client: Kubernetes' API from Python, against this project's servers and any other.

    from client import Client

    with Client.from_env(add_to_scheme) as c:
        gadgets = c.of(Gadget, namespace="default")
        for gadget in gadgets.list(labels={"app": "a"}): ...

The tour: `Config` holds the address and the credentials of a server; `AsyncClient` and `Client`
connect to it; `of(cls)` returns a `ResourceClient`, the interface to depend on. Underneath, a
`RESTClient` turns verbs into `Request` values, a `Sender` sends them over a `Transport`, and a
`StreamWatcher` decodes the events of a stream. An error of the server is an `APIError`, one class
per Status reason. `client.controller`, `client.informer` and `client.testing` are imported
separately.
"""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apimachinery.errors import AlreadyExists as AlreadyExists
    from apimachinery.errors import APIError as APIError
    from apimachinery.errors import BadRequest as BadRequest
    from apimachinery.errors import Conflict as Conflict
    from apimachinery.errors import Expired as Expired
    from apimachinery.errors import Forbidden as Forbidden
    from apimachinery.errors import Gone as Gone
    from apimachinery.errors import InternalError as InternalError
    from apimachinery.errors import Invalid as Invalid
    from apimachinery.errors import MethodNotAllowed as MethodNotAllowed
    from apimachinery.errors import NotFound as NotFound
    from apimachinery.errors import ServiceUnavailable as ServiceUnavailable
    from apimachinery.errors import Timeout as Timeout
    from apimachinery.errors import TooManyRequests as TooManyRequests
    from apimachinery.errors import Unauthorized as Unauthorized
    from apimachinery.meta.unstructured import Unstructured as Unstructured
    from apimachinery.scale import Scale as Scale
    from apimachinery.watch import EventType as EventType
    from apimachinery.watch import ObjectEvent as ObjectEvent
    from client.client import AsyncClient as AsyncClient
    from client.config import Config as Config
    from client.errors import ConfigError as ConfigError
    from client.errors import CredentialError as CredentialError
    from client.errors import Deleted as Deleted
    from client.errors import WaitTimeout as WaitTimeout
    from client.interface import ResourceClient as ResourceClient
    from client.interface import SubresourceClient as SubresourceClient
    from client.interface import Watch as Watch
    from client.paging import Listing as Listing
    from client.paging import Page as Page
    from client.rest_client import RESTClient as RESTClient
    from client.sync import Client as Client
    from client.sync import SyncResourceClient as SyncResourceClient
    from client.transport.in_process import ASGITransport as ASGITransport
    from client.transport.request import ALL_NAMESPACES as ALL_NAMESPACES
    from client.transport.request import InvalidRequest as InvalidRequest
    from client.transport.request import PatchType as PatchType
    from client.transport.request import Request as Request
    from client.transport.retry import retry_on_conflict as retry_on_conflict
    from client.transport.transport import TransportError as TransportError
    from client.transport.warnings import ServerWarning as ServerWarning
    from client.watches.retry_watcher import RetryWatcher as RetryWatcher
    from client.watches.stream_watcher import ListWatch as ListWatch
    from client.watches.stream_watcher import StreamWatcher as StreamWatcher
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "client": "AsyncClient",
            "config": "Config",
            "errors": "ConfigError CredentialError Deleted WaitTimeout",
            "interface": "ResourceClient SubresourceClient Watch",
            "paging": "Listing Page",
            "rest_client": "RESTClient",
            "sync": "Client SyncResourceClient",
            "transport.in_process": "ASGITransport",
            "transport.request": "ALL_NAMESPACES InvalidRequest PatchType Request",
            "transport.retry": "retry_on_conflict",
            "transport.transport": "TransportError",
            "transport.warnings": "ServerWarning",
            "watches.retry_watcher": "RetryWatcher",
            "watches.stream_watcher": "ListWatch StreamWatcher",
        },
        elsewhere={
            "apimachinery.errors": (
                "AlreadyExists APIError BadRequest Conflict Expired Forbidden Gone"
                " InternalError Invalid MethodNotAllowed NotFound ServiceUnavailable Timeout"
                " TooManyRequests Unauthorized"
            ),
            "apimachinery.meta.unstructured": "Unstructured",
            "apimachinery.scale": "Scale",
            "apimachinery.watch": "EventType ObjectEvent",
        },
    )
