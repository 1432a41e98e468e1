"""What the reviews need of the server that answers them: somebody who decides.

A group does not know the server, so it says here what it asks. The server's own authorizer fits
with a few lines between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from apis.authorization.v1 import NonResourceRule, ResourceRule


class Subject(Protocol):
    """Somebody who wants to do something."""

    @property
    def name(self) -> str: ...
    @property
    def uid(self) -> str: ...
    @property
    def groups(self) -> Sequence[str]: ...
    @property
    def extra(self) -> Mapping[str, Sequence[str]]: ...


class Asking(Protocol):
    """The request that brings a review, as far as an answer depends on it."""

    @property
    def user(self) -> Subject: ...


@dataclass(frozen=True, slots=True)
class NamedSubject:
    """A subject that a review names."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attributes:
    """What somebody wants to do: to a resource, or to a path if there is one."""

    verb: str
    path: str = ""
    """Of something that is no resource; the fields below are then empty."""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def is_resource(self) -> bool:
        return not self.path


class Decision(Protocol):
    """What was decided; neither allowed nor denied is no opinion."""

    @property
    def allowed(self) -> bool: ...
    @property
    def denied(self) -> bool: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Rules:
    """What somebody may do in a namespace, as far as it can be listed."""

    resources: Sequence[ResourceRule] = ()
    paths: Sequence[NonResourceRule] = ()
    incomplete: bool = False
    error: str = ""


class Authorizer(Protocol):
    """Decides what a subject may do."""

    async def authorize(self, subject: Subject, attributes: Attributes) -> Decision: ...

    async def rules(self, subject: Subject, namespace: str) -> Rules: ...
