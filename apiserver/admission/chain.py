"""Admission: whoever may still change or refuse a write that is otherwise allowed.

First everybody who may change the object, each seeing what those before have made of it; then, when
it is as it will be stored, everybody who may only refuse. A plugin is a function of `Attributes`,
async or not. It refuses by raising an APIError, most often `attributes.forbidden("why")`; a group
can bring functions of its own, and a webhook is one that asks somebody else.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from inspect import isawaitable
from typing import Final, TypeAlias

from apimachinery.errors import Forbidden
from apimachinery.meta.status import StatusCause
from apimachinery.meta.types import Object, TypeMeta
from apimachinery.schema import GroupKind, GroupResource
from apiserver.auth.user import User
from apiserver.context import RequestContext


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(slots=True)
class Attributes:
    """What is about to happen. A mutating plugin may change *object* or put another in its place.

    *object* is None for a deletion, *old_object* for a creation.
    """

    context: RequestContext
    operation: Operation
    kind: GroupKind
    object: Object | None = None
    old_object: Object | None = None
    options: TypeMeta | None = None

    @property
    def resource(self) -> GroupResource:
        return self.context.resource.group_resource

    @property
    def subresource(self) -> str:
        return self.context.subresource

    @property
    def namespace(self) -> str:
        return self.context.namespace

    @property
    def name(self) -> str:
        """What the object is called; empty while its name is still to be generated."""
        found = self.object or self.old_object
        return self.context.name or (found.metadata.name if found else "")

    @property
    def user(self) -> User:
        return self.context.user

    @property
    def dry_run(self) -> bool:
        return self.context.dry_run or bool(getattr(self.options, "dry_run", ()))

    def warn(self, text: str) -> None:
        self.context.warn(text)

    def forbidden(self, why: str, *, causes: Iterable[StatusCause] = ()) -> Forbidden:
        """The error with which a plugin refuses."""
        return Forbidden.of(self.resource, self._shown_name(), why, causes=causes)

    def _shown_name(self) -> str:
        if self.name:
            return self.name
        return (self.object.metadata.generate_name if self.object else "") or "Unknown"


Plugin: TypeAlias = Callable[[Attributes], Awaitable[None] | None]


class Chain:
    """Plugins in the order in which they are asked."""

    def __init__(
        self, *, mutating: Sequence[Plugin] = (), validating: Sequence[Plugin] = ()
    ) -> None:
        self.mutating = tuple(mutating)
        self.validating = tuple(validating)

    def extended(
        self, *, mutating: Sequence[Plugin] = (), validating: Sequence[Plugin] = ()
    ) -> "Chain":
        """The chain with further plugins, asked after those there are."""
        return Chain(
            mutating=(*self.mutating, *mutating), validating=(*self.validating, *validating)
        )

    async def mutate(self, attributes: Attributes) -> None:
        """Let plugins change the object; the first that refuses ends it."""
        await _ask(self.mutating, attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Let plugins refuse the object as it will be stored."""
        await _ask(self.validating, attributes)


async def _ask(plugins: Sequence[Plugin], attributes: Attributes) -> None:
    for plugin in plugins:
        answer = plugin(attributes)
        if isawaitable(answer):
            await answer


NO_ADMISSION: Final = Chain()
