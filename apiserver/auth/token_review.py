"""Token review: identifies the user of a token on behalf of another client.

Only a service account token states its audiences. All other tokens are meant for the server itself,
so a review for other audiences does not reveal their users.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apiserver.auth.authentication import Authenticator, InvalidCredentials, RequestCredentials
from apiserver.auth.service_account_tokens import ServiceAccountTokens
from apiserver.auth.user import AUTHENTICATED, User


@dataclass(frozen=True, slots=True)
class ReviewedToken:
    """The result of a review: a user and audiences, or an error."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


class TokenReviewer:
    """Reviews tokens with the authenticators of a server; *audiences* are those of the server."""

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

    async def review(self, token: str, audiences: Sequence[str]) -> ReviewedToken:
        """Review a token for *audiences* or, if there are none, for the server."""
        requested = tuple(audiences) or self._audiences
        error = "invalid bearer token"
        own_audiences = tuple(name for name in self._audiences if name in requested)
        if own_audiences or not requested:
            user = await self._static_user(token)
            if user is not None:
                return ReviewedToken(user, own_audiences)
        if self._accounts is not None:
            try:
                verified = await self._accounts.verify(token, requested)
            except InvalidCredentials as refusal:
                error = str(refusal)
            else:
                if verified is not None:
                    return ReviewedToken(verified.user, verified.audiences)
        return ReviewedToken(error=error)

    async def _static_user(self, token: str) -> User | None:
        for authenticator in self._authenticators:
            try:
                user = await authenticator.authenticate(RequestCredentials(f"Bearer {token}"))
            except InvalidCredentials:
                continue
            if user is not None:
                return User(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)
        return None
