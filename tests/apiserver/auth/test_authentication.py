"""Who is asking: tokens, certificates, and what several authenticators say together."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.certificates import CertificateAuthority
from apimachinery.errors import Unauthorized
from apiserver.auth.authentication import (
    Authentication,
    InvalidCredentials,
    RequestCredentials,
    bearer_token,
    read_credentials,
)
from apiserver.auth.static_tokens import (
    InvalidTokenFile,
    TokenAuthenticator,
    TokenFileAuthenticator,
    read_tokens,
)
from apiserver.auth.user import ANONYMOUS, AUTHENTICATED, CREDENTIAL_ID, User
from apiserver.auth.x509 import CertificateAuthenticator

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ANN = User("ann", groups=("a",))
BOB = User("bob")


def bearer(token: str) -> RequestCredentials:
    return RequestCredentials(f"Bearer {token}")


def tokens(**users: User) -> TokenAuthenticator:
    return TokenAuthenticator(users)


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_token_is_its_user_who_is_then_authenticated() -> None:
    user = await Authentication([tokens(t1=ANN)]).authenticate(bearer("t1"))

    assert user == User("ann", groups=("a", AUTHENTICATED))


async def test_no_credentials_are_anonymous() -> None:
    assert await Authentication([tokens(t1=ANN)]).authenticate(RequestCredentials()) == ANONYMOUS


async def test_a_wrong_token_is_refused_where_no_token_is_welcome() -> None:
    with pytest.raises(Unauthorized, match=r"^Unauthorized$"):
        await Authentication([tokens(t1=ANN)]).authenticate(bearer("t2"))


async def test_no_credentials_are_refused_when_nobody_may_be_anonymous() -> None:
    with pytest.raises(Unauthorized):
        await Authentication([tokens(t1=ANN)], anonymous=False).authenticate(RequestCredentials())


async def test_the_first_authenticator_that_knows_the_user_wins() -> None:
    both = Authentication([tokens(t1=ANN), tokens(t1=BOB, t2=BOB)])

    assert (await both.authenticate(bearer("t1"))).name == "ann"
    assert (await both.authenticate(bearer("t2"))).name == "bob"


async def test_a_good_certificate_counts_beside_a_wrong_token() -> None:
    both = Authentication([certificates(NOW), tokens(t1=ANN)])

    user = await both.authenticate(RequestCredentials("Bearer wrong", certificate("eve")))

    assert user.name == "eve"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("  BEARER abc  ", "abc"),
        ("Bearer abc def", "abc"),
        ("Bearer  abc", None),
        ("Bearer", None),
        ("Basic abc", None),
        ("", None),
    ],
)
def test_a_bearer_token_is_the_second_word(header: str, token: str | None) -> None:
    assert bearer_token(header) == token


@given(st.text(st.characters(codec="latin-1")))
async def test_no_header_is_more_than_wrong(header: str) -> None:
    try:
        assert await tokens(t1=ANN).authenticate(RequestCredentials(header)) in (None, ANN)
    except InvalidCredentials:
        assert bearer_token(header) is not None


def test_a_token_file_holds_users_uids_and_groups(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text('t1,ann,1,"a, b"\n\nt2, bob,2\n,nobody,3\nt3,"c,c",\n')

    users = read_tokens(file)

    assert users == {
        "t1": User("ann", "1", ("a", "b")),
        "t2": User("bob", "2"),
        "t3": User("c,c"),
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("t1,ann", "line 1: expected at least token, user and uid, got 2"),
        ("t1,ann,1\nt2,,2", "line 2: the user name is empty"),
        ('t1,ann,1,"a', "line 1: unexpected end of data"),
    ],
)
def test_a_token_file_with_a_mistake_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text(text)

    with pytest.raises(InvalidTokenFile, match=why):
        read_tokens(file)


@given(st.binary())
def test_any_token_file_is_read_or_refused(tmp_path_factory: object, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.csv"  # type: ignore[attr-defined]
    file.write_bytes(data)

    try:
        assert all(user.name for user in read_tokens(file).values())
    except InvalidTokenFile as error:
        assert str(file) in str(error)


async def test_a_token_file_is_followed_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text("t1,ann,1\n")
    time = Time()
    authenticator = TokenFileAuthenticator(file, clock=time)
    file.write_text("t22,bob,2\n")

    time.now = 5.0

    assert await authenticator.authenticate(bearer("t22")) == User("bob", "2")
    with pytest.raises(InvalidCredentials):
        await authenticator.authenticate(bearer("t1"))


@pytest.mark.parametrize("damage", ["gone", "malformed"])
async def test_a_damaged_token_file_leaves_the_last_good_one_in_force(
    tmp_path: Path, damage: str
) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text("t1,ann,1\n")
    time = Time()
    authenticator = TokenFileAuthenticator(file, clock=time)
    if damage == "gone":
        file.unlink()
    else:
        file.write_text("t1\n")

    time.now = 5.0

    assert await authenticator.authenticate(bearer("t1")) == User("ann", "1")


AUTHORITY = CertificateAuthority.create(now=NOW)


def certificate(user: str, *groups: str, lifetime: timedelta = timedelta(hours=1)) -> str:
    return AUTHORITY.issue_client(user, groups, now=NOW, lifetime=lifetime).certificate.decode()


def certificates(now: datetime) -> CertificateAuthenticator:
    return CertificateAuthenticator(clock=lambda: now)


async def test_a_certificate_is_its_common_name_in_its_organizations() -> None:
    user = await certificates(NOW).authenticate(
        RequestCredentials(certificate=certificate("ann", "a"))
    )

    assert user is not None
    assert (user.name, user.groups) == ("ann", ("a",))
    assert user.extra[CREDENTIAL_ID][0].startswith("X509SHA256=")


async def test_a_certificate_ends_during_a_connection() -> None:
    credentials = RequestCredentials(certificate=certificate("ann"))

    with pytest.raises(InvalidCredentials, match="expired"):
        await certificates(NOW + timedelta(hours=2)).authenticate(credentials)


@pytest.mark.parametrize("days", [-1, 3651])
async def test_a_certificate_is_worth_nothing_without_its_authority(days: int) -> None:
    """The certificate may be good for longer than what vouches for it."""
    authority = CertificateAuthority.create(now=NOW - timedelta(days)).pair.certificate.decode()
    credentials = RequestCredentials(certificate=certificate("ann"), authorities=(authority,))

    with pytest.raises(InvalidCredentials, match="the authority of the client certificate"):
        await certificates(NOW).authenticate(credentials)


async def test_a_serving_certificate_is_nobody() -> None:
    serving = AUTHORITY.issue_serving(["localhost"], now=NOW).certificate.decode()

    with pytest.raises(InvalidCredentials, match="not a client certificate"):
        await certificates(NOW).authenticate(RequestCredentials(certificate=serving))


async def test_what_is_no_certificate_is_refused() -> None:
    with pytest.raises(InvalidCredentials, match="cannot be read"):
        await certificates(NOW).authenticate(RequestCredentials(certificate="nothing"))


def test_credentials_come_from_the_scope() -> None:
    scope = {
        "headers": [(b"accept", b"*/*"), (b"authorization", b"Bearer t1")],
        "extensions": {"tls": {"client_cert_chain": ["PEM"]}},
    }

    assert read_credentials(scope) == RequestCredentials("Bearer t1", "PEM")
    assert read_credentials({"headers": []}) == RequestCredentials()
