"""Tokens of users: who they name, until when, and that nobody else can make them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.auth.authentication import InvalidCredentials, RequestCredentials
from apiserver.auth.user import CREDENTIAL_ID, User
from apiserver.auth.user_tokens import PREFIX, SignedTokenAuthenticator, issue_token, signing_key

NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = signing_key("secret")
TOKEN = issue_token(KEY, "jane", ("builders", "b"), expires=NOW + timedelta(hours=1))


async def user_of(token: str, *, now: datetime = NOW, key: bytes = KEY) -> User | None:
    authenticator = SignedTokenAuthenticator(key, clock=lambda: now)
    return await authenticator.authenticate(RequestCredentials(f"Bearer {token}"))


async def test_a_token_names_its_user_and_groups_and_itself() -> None:
    user = await user_of(TOKEN)

    assert user is not None
    assert (user.name, user.groups) == ("jane", ("builders", "b"))
    (identity,) = user.extra[CREDENTIAL_ID]
    assert identity.startswith("JTI=")


async def test_each_token_is_another() -> None:
    expires = NOW + timedelta(hours=1)

    assert issue_token(KEY, "jane", (), expires=expires) != issue_token(
        KEY, "jane", (), expires=expires
    )


async def test_a_token_ends() -> None:
    almost = NOW + timedelta(minutes=59, seconds=59)

    assert await user_of(TOKEN, now=almost) is not None
    with pytest.raises(InvalidCredentials, match="expired"):
        await user_of(TOKEN, now=NOW + timedelta(hours=1))


async def test_another_secret_ends_all_tokens() -> None:
    with pytest.raises(InvalidCredentials, match="not issued by this server"):
        await user_of(TOKEN, key=signing_key("another"))


@pytest.mark.parametrize("token", ["other", "", "apiserver", "eyJhbGciOiJ.eyJz.x"])
async def test_tokens_of_others_are_for_others(token: str) -> None:
    assert await user_of(token) is None


@given(
    position=st.integers(0, len(TOKEN) - 1 - len(PREFIX)), character=st.characters(min_codepoint=33)
)
async def test_a_token_that_was_changed_is_refused(position: int, character: str) -> None:
    at = len(PREFIX) + position
    changed = TOKEN[:at] + character + TOKEN[at + 1 :]
    if changed == TOKEN:
        return

    with pytest.raises(InvalidCredentials):
        await user_of(changed)
