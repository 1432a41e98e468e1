"""Tokens of service accounts: whose they are, and for how long."""

import base64
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from apiserver.auth import service_account_tokens as service_accounts
from apiserver.auth.authentication import InvalidCredentials, RequestCredentials
from apiserver.auth.service_account_tokens import (
    Reference,
    ServiceAccountIdentity,
    ServiceAccountTokens,
    VerifiedToken,
)
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.token_keys import TokenKeys, load_signing_key, new_signing_key
from apiserver.auth.token_review import ReviewedToken, TokenReviewer
from apiserver.auth.user import AUTHENTICATED, CREDENTIAL_ID, User

ISSUER = "https://issuer.example"
KEYS = TokenKeys(load_signing_key(new_signing_key()))
BUILDER = Reference("builder", "u1")
VAULT = Reference("vault", "u2")


@dataclass
class World:
    """Accounts and secrets by name, what the cache still says of them, and a clock."""

    now: float = 1_800_000_000.0
    accounts: dict[str, ServiceAccountIdentity] = field(
        default_factory=lambda: {"builder": ServiceAccountIdentity("u1")}
    )
    secrets: dict[str, ServiceAccountIdentity] = field(
        default_factory=lambda: {"vault": ServiceAccountIdentity("u2")}
    )
    cached: dict[str, ServiceAccountIdentity] | None = None
    asked: list[str] = field(default_factory=list)

    async def account(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        self.asked.append("newest" if newest else "cached")
        known = self.accounts if newest or self.cached is None else self.cached
        return known.get(name) if namespace == "ci" else None

    async def secret(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        return self.secrets.get(name) if namespace == "ci" else None

    def tokens(self, *issuers: str, keys: TokenKeys = KEYS) -> ServiceAccountTokens:
        return ServiceAccountTokens(
            keys,
            self,
            issuers=issuers or (ISSUER,),
            audiences=(ISSUER, "api"),
            clock=lambda: self.now,
        )


@pytest.fixture
def world() -> World:
    return World()


def issued(world: World, *, secret: Reference | None = None, audience: str = ISSUER) -> str:
    return world.tokens().issue(
        BUILDER, namespace="ci", audiences=[audience], seconds=3600, secret=secret
    )


def claims_of(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    claims: dict[str, Any] = orjson.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return claims


async def refusal(tokens: ServiceAccountTokens, token: str) -> str:
    with pytest.raises(InvalidCredentials) as raised:
        await tokens.verify(token, tokens.audiences)
    return str(raised.value)


def test_a_token_says_what_kubernetes_says(world: World) -> None:
    claims = claims_of(issued(world, secret=VAULT))

    assert claims.pop("jti").count("-") == 4
    assert claims == {
        "aud": [ISSUER],
        "exp": 1_800_003_600,
        "iat": 1_800_000_000,
        "iss": ISSUER,
        "kubernetes.io": {
            "namespace": "ci",
            "serviceaccount": {"name": "builder", "uid": "u1"},
            "secret": {"name": "vault", "uid": "u2"},
        },
        "nbf": 1_800_000_000,
        "sub": "system:serviceaccount:ci:builder",
    }


async def test_a_token_is_its_account(world: World) -> None:
    token = issued(world)

    user = await world.tokens().authenticate(RequestCredentials(f"Bearer {token}"))

    assert user == User(
        "system:serviceaccount:ci:builder",
        "u1",
        ("system:serviceaccounts", "system:serviceaccounts:ci", AUTHENTICATED),
        {CREDENTIAL_ID: (f"JTI={claims_of(token)['jti']}",)},
    )


@pytest.mark.parametrize("authorization", ["", "Basic x", "Bearer t1", "Bearer a.b.c"])
async def test_other_credentials_are_left_to_others(world: World, authorization: str) -> None:
    assert await world.tokens().authenticate(RequestCredentials(authorization)) is None


async def test_a_token_of_another_issuer_is_left_to_others(world: World) -> None:
    assert await world.tokens("https://other").verify(issued(world), [ISSUER]) is None


async def test_a_former_issuer_is_still_believed(world: World) -> None:
    assert await world.tokens("https://new", ISSUER).verify(issued(world), [ISSUER])


async def test_a_token_that_somebody_else_signed_is_refused(world: World) -> None:
    other = world.tokens(keys=TokenKeys(load_signing_key(new_signing_key())))

    assert await refusal(other, issued(world)) == "invalid signature, no keys found"


@pytest.mark.parametrize(
    ("passed", "why"),
    [
        (3661, "service account token has expired"),
        (-61, "service account token is not valid yet"),
    ],
)
async def test_a_token_has_its_time(world: World, passed: int, why: str) -> None:
    token = issued(world)
    world.now += passed

    assert await refusal(world.tokens(), token) == why


@pytest.mark.parametrize("passed", [-60, 3660])
async def test_clocks_may_differ_by_a_minute(world: World, passed: int) -> None:
    token = issued(world)
    world.now += passed

    assert await world.tokens().verify(token, [ISSUER])


async def test_time_passes_for_a_token_that_is_known(world: World) -> None:
    token, tokens = issued(world), world.tokens()
    assert await tokens.verify(token, [ISSUER])
    world.now += 4000

    assert await refusal(tokens, token) == "service account token has expired"


async def test_a_token_ends_with_its_account(world: World) -> None:
    token, tokens = issued(world), world.tokens()
    assert await tokens.verify(token, [ISSUER])
    world.accounts.clear()

    assert await refusal(tokens, token) == 'serviceaccounts "builder" not found'


async def test_an_account_of_the_same_name_is_another(world: World) -> None:
    token = issued(world)
    world.accounts["builder"] = ServiceAccountIdentity("u9")

    found = await refusal(world.tokens(), token)

    assert found == "service account UID (u9) does not match claim (u1)"


async def test_an_account_on_its_way_out_has_a_minute(world: World) -> None:
    token = issued(world)
    world.accounts["builder"] = ServiceAccountIdentity("u1", deleted=world.now)
    assert await world.tokens().verify(token, [ISSUER])
    world.now += 61

    assert await refusal(world.tokens(), token) == "service account ci/builder has been deleted"


async def test_a_token_ends_with_the_secret_it_is_bound_to(world: World) -> None:
    token, tokens = issued(world, secret=VAULT), world.tokens()
    assert await tokens.verify(token, [ISSUER])

    world.secrets["vault"] = ServiceAccountIdentity("u9")
    replaced = await refusal(tokens, token)
    world.secrets.clear()
    gone = await refusal(tokens, token)

    assert replaced == "secret UID (u9) does not match service account secret ref claim (u2)"
    assert gone == "service account token has been invalidated"


async def test_an_account_too_new_for_the_cache_is_looked_for_in_the_store(world: World) -> None:
    world.cached = {"builder": ServiceAccountIdentity("former")}

    assert await world.tokens().verify(issued(world), [ISSUER])
    assert world.asked == ["cached", "newest"]


async def test_the_store_is_not_asked_about_an_account_that_is_there(world: World) -> None:
    assert await world.tokens().verify(issued(world), [ISSUER])
    assert world.asked == ["cached"]


async def test_a_signature_is_checked_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    token, tokens = issued(world), world.tokens()
    first = await tokens.verify(token, [ISSUER])
    monkeypatch.setattr(KEYS, "verify", None)

    assert await tokens.verify(token, [ISSUER]) == first


async def test_only_so_many_tokens_are_remembered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_accounts, "MAX_VERIFIED", 2)
    tokens = world.tokens()
    for _ in range(5):
        await tokens.verify(issued(world), [ISSUER])

    assert len(tokens._verified) == 2


async def test_a_token_is_good_where_it_is_meant_for(world: World) -> None:
    token = issued(world, audience="vault")

    found = await world.tokens().verify(token, ["x", "vault"])

    assert isinstance(found, VerifiedToken)
    assert found.audiences == ("vault",)
    assert await refusal(world.tokens(), token) == (
        f'token audiences ["vault"] is invalid for the target audiences ["{ISSUER}" "api"]'
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"aud": None}, "the token is not a service account token"),
        ({"exp": "soon"}, "the token is not a service account token"),
        ({"kubernetes.io": {"namespace": "ci"}}, "the token is not a service account token"),
        ({"kubernetes.io": 7}, "the token is not a service account token"),
        ({"iat": 1_800_000_061}, "service account token claims could not be validated"),
        (
            {
                "kubernetes.io": {
                    "namespace": "ci",
                    "serviceaccount": BUILDER._asdict(),
                    "pod": {"name": "a", "uid": "b"},
                }
            },
            "service account token has been invalidated",
        ),
    ],
)
async def test_a_genuine_token_that_says_something_else_is_refused(
    world: World, changes: dict[str, Any], why: str
) -> None:
    token = KEYS.sign(claims_of(issued(world)) | changes)

    assert (await refusal(world.tokens(), token)).startswith(why)


ANN = User("ann")


def reviewer(world: World) -> TokenReviewer:
    static = TokenAuthenticator({"t1": ANN})
    return TokenReviewer([static], world.tokens(), audiences=(ISSUER, "api"))


async def test_a_review_says_whom_a_token_is_meant_for(world: World) -> None:
    found = await reviewer(world).review(issued(world, audience="vault"), ["vault", "x"])

    assert found.user is not None
    assert (found.user.uid, found.audiences) == ("u1", ("vault",))


async def test_a_review_for_nobody_is_for_the_server(world: World) -> None:
    found = await reviewer(world).review("t1", [])

    assert found == ReviewedToken(User("ann", groups=(AUTHENTICATED,)), (ISSUER, "api"))


async def test_a_fixed_token_is_for_the_server_alone(world: World) -> None:
    assert (await reviewer(world).review("t1", ["x", "api"])).audiences == ("api",)
    assert await reviewer(world).review("t1", ["x"]) == ReviewedToken(error="invalid bearer token")


async def test_a_review_says_why_a_token_is_nobodys(world: World) -> None:
    token = issued(world)
    world.now += 4000

    assert await reviewer(world).review(token, []) == ReviewedToken(
        error="service account token has expired"
    )
