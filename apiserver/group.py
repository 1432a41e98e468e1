"""Group, Resource and Subresource: the values by which a group describes itself to the server.

They are data for the authors of groups. `installed_group.py` builds the stores and endpoints of a
group from them, and the server imports no group by name.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.model.declared_rules import selectable_fields
from apimachinery.schema import GroupResource, GroupVersionKind
from apimachinery.scheme import Scheme
from apiserver.admission.chain import Plugin
from apiserver.admission.plugins import AdmissionPlugin
from apiserver.context import RequestContext
from apiserver.registry.allocation import Allocation
from apiserver.registry.strategy import Strategy
from apiserver.views.table import Column

if TYPE_CHECKING:
    from apiserver.server_parts import ServerParts

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class ReviewHandler(Protocol):
    """Answers the creation of an object that is never stored, such as an access review."""

    def __call__(self, context: RequestContext, review: Any, /) -> Awaitable[Object | Status]:
        """Return the review with its status, or a Status. The handler may change *review*."""


class ObjectComputation(Protocol):
    """Computes the objects of a resource that is read and never stored."""

    def __call__(self) -> Awaitable[Sequence[Object]]:
        """Return all objects, in the order of a list."""


class SubresourceHandler(Protocol):
    """Serves every verb of a subresource that the server has no handlers of its own for."""

    def __call__(
        self, context: RequestContext, current: Any, body: Any, /
    ) -> Awaitable[Object | Status]:
        """Return the response to GET and POST, or the object to store for PUT and PATCH.

        *current* is the newest stored object. *body* is the decoded request body: None for a GET,
        and for a PATCH the current object with the patch applied.
        """


@dataclass(frozen=True)
class Subresource:
    """A part or an action of a resource with a path of its own.

    The server implements "status" and "scale". Every other subresource needs *handle*.
    """

    name: str
    verbs: tuple[str, ...] = ("get", "patch", "update")
    kind: GroupVersionKind | None = None
    """The kind of its documents, if it differs from the kind of the resource."""
    older_versions: tuple[str, ...] = ()
    """Versions of this kind, of the same form, in which documents are accepted as well."""
    handle: SubresourceHandler | None = None
    spec_replicas: str = ""
    """For "scale": the dotted paths, in the internal object, of the fields that a Scale shows."""
    status_replicas: str = ""
    selector: str = ""


STATUS = Subresource("status")


def scale(*, spec_replicas: str, status_replicas: str, selector: str = "") -> Subresource:
    """Return the scale subresource of a kind.

    The paths are dotted Python attribute names of the internal object.
    """
    return Subresource(
        "scale",
        kind=GroupVersionKind("autoscaling", "v1", "Scale"),
        spec_replicas=spec_replicas,
        status_replicas=status_replicas,
        selector=selector,
    )


@dataclass(frozen=True)
class Resource:
    """One resource: its names, its internal class and its strategy."""

    name: str
    """The plural, as in URLs."""
    cls: type[Object]
    strategy: Strategy[Any] = field(default_factory=Strategy)
    singular: str = ""
    """Defaults to the kind in lower case."""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    columns: tuple[Column, ...] = ()
    """Columns of `kubectl get` between name and age."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Field-selector label -> dotted wire path in the internal document.

    The labels are allowed in every version whose kind has no `Scheme.add_field_labels`.
    """
    storage_version: str = ""
    """The version in which its objects are stored; defaults to that of the group."""
    announced_storage_version: str = ""
    """The version that the storageVersionHash of discovery is computed from, if it is another.

    Kubernetes still stores some kinds in a version that is not served here.
    """
    ttl: Callable[[Any], int | None] | None = None
    """Returns the seconds after which the server deletes an object; None keeps it."""
    roles: tuple[str, ...] = ("view", "edit")
    """The default ClusterRoles that grant access to it; without "view" only editors can read it."""
    stored_as: GroupResource | None = None
    """The resource of another group that stores these objects; this group adds versions to it."""
    allocation: Allocation[Any] | None = None
    """Reserves values outside of an object while it is written, such as addresses."""
    answer: ReviewHandler | None = None
    """For a resource that stores nothing (a review): handles its creation."""
    compute: ObjectComputation | None = None
    """For a resource that stores nothing and can be read: returns its objects."""
    deprecation: str = ""
    """For a deprecated resource: the text after `is deprecated` in the warning of each response."""

    @property
    def kind(self) -> str:
        return self.cls.__kind__

    @property
    def singular_name(self) -> str:
        return self.singular or self.kind.lower()

    @property
    def is_stored(self) -> bool:
        return self.answer is None and self.compute is None

    @property
    def has_status(self) -> bool:
        return any(sub.name == "status" for sub in self.subresources)


def selectable_of(resource: Resource) -> Mapping[str, str]:
    """Return the selectable fields of a resource: label -> dotted wire path.

    Those that the class declares (`field(selectable=True)`), and those of the resource.
    """
    return {**selectable_fields(resource.cls), **resource.fields}


@dataclass(frozen=True)
class Group:
    """One API group as a server installs it."""

    name: str
    versions: tuple[str, ...]
    """The served versions, the preferred one first."""
    resources: tuple[Resource, ...]
    add_to_scheme: Callable[[Scheme], None]
    storage_version: str = ""
    """The version in which objects are stored; defaults to the internal one."""
    mutating: tuple[Plugin, ...] = ()
    """Mutating admission functions for every resource of the group."""
    validating: tuple[Plugin, ...] = ()
    """Validating admission functions for every resource of the group."""
    plugins: tuple[AdmissionPlugin, ...] = ()
    """Admission plugins for resources of every group, which depend on objects of this one."""
    deprecated: Mapping[str, str] = field(default_factory=dict)
    """Version -> its replacement; responses in that version carry a warning."""
    bootstrap: Callable[[], Iterable[Object]] | None = None
    """Returns the objects that a server creates at its start, unless they exist already."""
    stable: bool = False
    """Whether its types are tested to be right and never change incompatibly, as Kubernetes' are.

    A start then neither builds its classes nor compares their shapes with the store, unless objects
    are stored: both happen when a resource is first used, so that many of them cost little.
    """
    complete: Callable[["Group", "ServerParts"], "Group"] | None = None
    """Returns the group with what it needs of the server that installs it."""

    def completed(self, parts: "ServerParts") -> "Group":
        """Return the group as the server with *parts* installs it."""
        return self.complete(self, parts) if self.complete is not None else self

    def storage_version_of(self, resource: Resource) -> str:
        """Return the version in which a resource is stored, empty for the internal one."""
        return resource.storage_version or self.storage_version
