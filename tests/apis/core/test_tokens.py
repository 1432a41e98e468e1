"""The token subresource: what a request for a token may ask for, and what it gets."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.errors import APIError
from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupVersionResource
from apimachinery.scheme import Scheme
from apis.authentication.register import add_to_scheme
from apis.authentication.v1 import BoundObjectReference, TokenRequest, TokenRequestSpec
from apis.core.tokens import TokenRequests
from apis.core.v1 import ServiceAccount
from apiserver.auth.service_account_tokens import Reference, ServiceAccountTokens
from apiserver.context import context_for

NOW = datetime(2030, 1, 1, tzinfo=UTC)
CONTEXT = context_for("create", GroupVersionResource("", "v1", "serviceaccounts"))
ACCOUNT = ServiceAccount(metadata=ObjectMeta(name="builder", namespace="ci", uid="u1"))
OF_SECRET = {"kind": "Secret", "api_version": "v1", "name": "vault"}


class Tokens(ServiceAccountTokens):
    """Makes tokens in which everything can be read."""

    def __init__(self) -> None:
        self.audiences = ("api",)

    async def secret_uid(self, namespace: str, name: str) -> str | None:
        return "u2" if (namespace, name) == ("ci", "vault") else None

    def issue(
        self,
        account: Reference,
        *,
        namespace: str,
        audiences: Sequence[str],
        seconds: int,
        secret: Reference | None = None,
    ) -> str:
        return (
            f"{namespace} {tuple(account)} {list(audiences)} {seconds} {secret and tuple(secret)}"
        )


def spec(seconds: int | None = 3600, **fields: Any) -> TokenRequestSpec:
    return TokenRequestSpec(expiration_seconds=seconds, **fields)


async def answered(request: TokenRequest) -> TokenRequest:
    handle = TokenRequests(Tokens(), now=lambda: NOW)
    return await handle(CONTEXT, ACCOUNT, request)


async def refused(request: TokenRequest) -> str:
    with pytest.raises(APIError) as raised:
        await answered(request)
    return f"{raised.value.code} {raised.value.message}"


async def test_a_request_that_says_nothing_is_for_the_server_for_an_hour() -> None:
    request = TokenRequest()
    scheme = Scheme()
    add_to_scheme(scheme)
    scheme.default(request)

    answer = await answered(request)

    assert answer.status.token == "ci ('builder', 'u1') ['api'] 3600 None"
    assert answer.status.expiration_timestamp == datetime(2030, 1, 1, 1, tzinfo=UTC)
    assert answer.spec.audiences == ["api"]
    assert answer.metadata == ObjectMeta(
        name="builder", namespace="ci", uid="u1", creation_timestamp=NOW
    )


async def test_a_request_may_say_for_whom_and_how_long() -> None:
    answer = await answered(TokenRequest(spec=spec(600, audiences=["a", "b"])))

    assert answer.status.token == "ci ('builder', 'u1') ['a', 'b'] 600 None"
    assert answer.status.expiration_timestamp == datetime(2030, 1, 1, 0, 10, tzinfo=UTC)


@pytest.mark.parametrize("uid", ["", "u2"])
async def test_a_token_may_be_bound_to_a_secret(uid: str) -> None:
    bound = BoundObjectReference(**OF_SECRET, uid=uid)

    answer = await answered(TokenRequest(spec=spec(bound_object_ref=bound)))

    assert answer.status.token == "ci ('builder', 'u1') ['api'] 3600 ('vault', 'u2')"


INVALID = '422 TokenRequest.authentication.k8s.io "{}" is invalid: '


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (
            TokenRequest(spec=spec(599)),
            INVALID.format("") + "spec.expirationSeconds: Invalid value: 599: may not specify a"
            " duration less than 10 minutes",
        ),
        (
            TokenRequest(spec=spec((1 << 32) + 1)),
            INVALID.format("") + "spec.expirationSeconds: Invalid value: 4294967297: may not"
            " specify a duration larger than 2^32 seconds",
        ),
        (
            TokenRequest(spec=spec(1, attestations={"a": ["b"]})),
            INVALID.format("") + 'spec.attestations: Invalid value: {"a":["b"]}: attestations may'
            " only be specified with a webhook bound object reference",
        ),
        (
            TokenRequest(metadata=ObjectMeta(name="other"), spec=spec()),
            INVALID.format("builder") + 'metadata.name: Invalid value: "other": must match the'
            " service account name if specified",
        ),
        (
            TokenRequest(metadata=ObjectMeta(uid="u9"), spec=spec()),
            "409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io"
            ' "builder": the UID in the token request (u9) does not match the UID of the service'
            " account (u1)",
        ),
        (
            TokenRequest(
                spec=spec(bound_object_ref=BoundObjectReference(**OF_SECRET | {"name": "x"}))
            ),
            '404 secrets "x" not found',
        ),
        (
            TokenRequest(spec=spec(bound_object_ref=BoundObjectReference(**OF_SECRET, uid="u9"))),
            '409 Operation cannot be fulfilled on Secret "vault": the UID in the bound object'
            " reference (u9) does not match the UID in record. The object might have been deleted"
            " and then recreated",
        ),
        (
            TokenRequest(
                spec=spec(bound_object_ref=BoundObjectReference(api_version="apps/v1", kind="Job"))
            ),
            "400 cannot bind token to object of type apps/v1, Kind=Job",
        ),
        (
            TokenRequest(
                spec=spec(bound_object_ref=BoundObjectReference(api_version="a/b/c", kind="Pod"))
            ),
            "400 cannot bind token to object of type /, Kind=Pod",
        ),
    ],
)
async def test_a_request_that_cannot_be_met(request_: TokenRequest, why: str) -> None:
    assert await refused(request_) == why
