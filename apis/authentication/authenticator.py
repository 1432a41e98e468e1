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


class Reviewed(Protocol):
    """What is known of a token."""

    @property
    def user(self) -> User | None: ...
    @property
    def audiences(self) -> Sequence[str]:
        """Which of those who were asked for it is meant for."""

    @property
    def error(self) -> str:
        """Why it is nobody's."""


class Tokens(Protocol):
    """Knows whose a token is."""

    async def review(self, token: str, audiences: Sequence[str]) -> Reviewed:
        """Who the token is, for one of *audiences* or, if there are none, for the server."""
