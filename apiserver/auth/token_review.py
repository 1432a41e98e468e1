"""Whose token is this, and whom is it meant for? Asked by others than the token's bearer.

Only a token of a service account says whom it is meant for. Every other is for the server itself,
so whoever asks on behalf of somebody else is told nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apiserver.auth.authentication import Authenticator, InvalidCredentials, RequestCredentials
from apiserver.auth.service_account_tokens import ServiceAccountTokens
from apiserver.auth.user import AUTHENTICATED, User


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What is known of a token: a user and audiences, or why there is none."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


class TokenReviewer:
    """Answers by the authenticators of a server, *audiences* being whom its own tokens are for."""

    def __init__(
        self,
        authenticators: Sequence[Authenticator],
        accounts: ServiceAccountTokens | None = None,
        *,
        audiences: Sequence[str] = (),
    ) -> None:
        self._authenticators = tuple(authenticators)
        self._accounts = accounts
        self._audiences = tuple(audiences)

    async def review(self, token: str, audiences: Sequence[str]) -> Reviewed:
        """Who the token is, for one of *audiences* or, if there are none, for the server."""
        wanted = tuple(audiences) or self._audiences
        error = "invalid bearer token"
        own = tuple(each for each in self._audiences if each in wanted)
        if own or not wanted:
            user = await self._own_user(token)
            if user is not None:
                return Reviewed(user, own)
        if self._accounts is not None:
            try:
                found = await self._accounts.recognise(token, wanted)
            except InvalidCredentials as refusal:
                error = str(refusal)
            else:
                if found is not None:
                    return Reviewed(found.user, found.audiences)
        return Reviewed(error=error)

    async def _own_user(self, token: str) -> User | None:
        for authenticator in self._authenticators:
            try:
                user = await authenticator.authenticate(RequestCredentials(f"Bearer {token}"))
            except InvalidCredentials:
                continue
            if user is not None:
                return User(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)
        return None
