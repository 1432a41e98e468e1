"""Group, Resource, Subresource: what a group says about itself. Data only.

A group hands the server one value; the server knows no group. `install.py` turns the value into
routes, `asgi.py` puts groups and storage together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource, GroupVersionKind
from apimachinery.scheme import Scheme
from apiserver.admission.chain import Chain, Plugin
from apiserver.registry.strategy import Strategy
from apiserver.views.table import Column

if TYPE_CHECKING:
    from apiserver.managed_fields.ownership import Ownership
    from apiserver.registry.store import ResourceStore
    from apiserver.storage.cache.watch_cache import WatchCache
    from apiserver.storage.interface import Backend

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True)
class Subresource:
    """A part or an action of a resource with a path of its own.

    "status" and "scale" the server knows how to serve. Any other is given *handle*: an async
    function (context, current object or None, body or None) -> object, called for each verb. A
    patch gives it the current object with the patch as the body.
    """

    name: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    kind: GroupVersionKind | None = None
    """The kind of its documents, when it is not the resource's own."""
    handle: Callable[..., Any] | None = None
    spec_replicas: str = ""
    """For "scale": dotted paths, in the internal object, of what a Scale shows."""
    status_replicas: str = ""
    selector: str = ""


STATUS = Subresource("status")


def scale(*, spec_replicas: str, status_replicas: str, selector: str = "") -> Subresource:
    """The scale subresource of a kind; paths are dotted Python names of the internal object."""
    return Subresource(
        "scale",
        kind=GroupVersionKind("autoscaling", "v1", "Scale"),
        spec_replicas=spec_replicas,
        status_replicas=status_replicas,
        selector=selector,
    )


@dataclass(frozen=True)
class Foundation:
    """What a store is built on."""

    backend: "Backend"
    cache: "WatchCache"
    admission: Chain
    ownership: "Callable[[Codec, Group, Resource], Ownership] | None"


@dataclass(frozen=True)
class Assembled:
    """The stores of a resource that was assembled by itself, one for each version."""

    codec: Codec
    version: str
    """The one to use where it does not matter."""
    versions: "Mapping[str, ResourceStore[Any]]"

    @property
    def store(self) -> "ResourceStore[Any]":
        return self.versions[self.version]


@dataclass(frozen=True)
class Resource:
    """One resource: its names, its internal class and its strategy."""

    name: str
    """The plural, as in URLs."""
    cls: type[Object]
    strategy: Strategy[Any] = field(default_factory=Strategy)
    singular: str = ""
    """The kind in lower case unless given."""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    columns: tuple[Column, ...] = ()
    """Columns between name and age; without any there are only those two."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Field-selector label -> dotted wire path in the internal document."""
    ttl: Callable[[Any], int | None] | None = None
    """Seconds after which an object is deleted by itself."""
    roles: tuple[str, ...] = ("view", "edit")
    """The roles of every server that include it; without "view" only who may edit can read it."""
    stored_as: GroupResource | None = None
    """The resource of another group whose objects these are, seen in the versions of this one."""
    answer: Callable[..., Any] | None = None
    """For a resource that stores nothing (a review): async (context, object) -> object."""
    list_kind: str = ""
    """The kind of its lists; the kind and `List` unless given."""
    listed_verbs: tuple[str, ...] = ()
    """The verbs as discovery lists them; in alphabetical order unless given."""
    storage_version: str = ""
    """The version it is stored in, if that is not the same for the whole group."""
    warning: str = ""
    """What answers carry as a warning."""
    assemble: Callable[[Foundation], Assembled] | None = None
    """For a resource that is defined at run time: how its stores are made."""
    in_versions: "Mapping[str, Resource] | None" = None
    """For such a resource: version -> what it is there, with subresources of its own."""

    @property
    def kind(self) -> str:
        return self.cls.__kind__

    @property
    def singular_name(self) -> str:
        return self.singular or self.kind.lower()

    @property
    def has_status(self) -> bool:
        return any(sub.name == "status" for sub in self.subresources)


@dataclass(frozen=True)
class Group:
    """One API group as a server installs it."""

    name: str
    versions: tuple[str, ...]
    """The served versions, the preferred one first."""
    resources: tuple[Resource, ...]
    add_to_scheme: Callable[[Scheme], None]
    storage_version: str = ""
    """The version objects are stored in; the internal form unless given."""
    mutating: tuple[Plugin, ...] = ()
    """Functions that may change or refuse a write to any resource of the group."""
    validating: tuple[Plugin, ...] = ()
    """Functions that may refuse it as it will be stored."""
    deprecated: Mapping[str, str] = field(default_factory=dict)
    """Version -> what to use instead; answers in it carry a warning."""
