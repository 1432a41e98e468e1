"""What the reviews need of the server that answers them."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class User(Protocol):
    """Somebody the server knows."""

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
    def user(self) -> User: ...


class Tokens(Protocol):
    """Knows whose a token is."""

    async def user_of(self, token: str) -> User | None:
        """The user, or None if it is nobody's."""
