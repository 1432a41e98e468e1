"""Defaults of authentication.k8s.io/v1."""

from typing import Final

from apis.authentication.v1.tokens import TokenRequestSpec

TOKEN_SECONDS: Final = 60 * 60


def set_token_request_defaults(spec: TokenRequestSpec) -> None:
    if spec.expiration_seconds is None:
        spec.expiration_seconds = TOKEN_SECONDS
