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

from apimachinery.errors import (
    AlreadyExists,
    APIError,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unauthorized,
)
from apimachinery.meta.unstructured import Unstructured
from apimachinery.scale import Scale
from apimachinery.watch import EventType, ObjectEvent
from client.client import AsyncClient
from client.config import Config
from client.errors import ConfigError, CredentialError, Deleted, WaitTimeout
from client.interface import ResourceClient, SubresourceClient, Watch
from client.paging import Listing, Page
from client.rest_client import RESTClient
from client.sync import Client
from client.sync import SyncResourceClient as SyncResourceClient
from client.transport.in_process import ASGITransport
from client.transport.request import ALL_NAMESPACES, InvalidRequest, PatchType, Request
from client.transport.retry import retry_on_conflict
from client.transport.transport import TransportError
from client.transport.warnings import ServerWarning
from client.watches.retry_watcher import RetryWatcher
from client.watches.stream_watcher import ListWatch, StreamWatcher

__all__ = [
    "ALL_NAMESPACES",
    "APIError",
    "ASGITransport",
    "AlreadyExists",
    "AsyncClient",
    "BadRequest",
    "Client",
    "Config",
    "ConfigError",
    "Conflict",
    "CredentialError",
    "Deleted",
    "EventType",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "InvalidRequest",
    "ListWatch",
    "Listing",
    "MethodNotAllowed",
    "NotFound",
    "ObjectEvent",
    "Page",
    "PatchType",
    "RESTClient",
    "Request",
    "ResourceClient",
    "RetryWatcher",
    "Scale",
    "ServerWarning",
    "ServiceUnavailable",
    "StreamWatcher",
    "SubresourceClient",
    "SyncResourceClient",
    "Timeout",
    "TooManyRequests",
    "TransportError",
    "Unauthorized",
    "Unstructured",
    "WaitTimeout",
    "Watch",
    "retry_on_conflict",
]
