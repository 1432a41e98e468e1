"""OpenID Connect discovery: the issuer of service account tokens and its public keys.

For clients that verify these tokens themselves. Both documents are built once; the keys do not
change while a server runs.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import orjson
from falcon.asgi import Request, Response

from apimachinery.serialization.media_types import JSON
from apiserver.auth.token_keys import VerificationKey
from apiserver.handlers.routes import Router

CONFIGURATION: Final = "/.well-known/openid-configuration"
KEYS: Final = "/openid/v1/jwks"
MAX_AGE: Final = 3600
"""Seconds for which clients may cache the documents."""


def add_openid_paths(
    router: Router, keys: Iterable[VerificationKey], *, issuer: str, server_url: str
) -> bool:
    """Serve the documents; return False if the issuer is not an https URL.

    Such an issuer cannot be discovered.
    """
    if not is_discoverable(issuer):
        return False
    key_list = list(keys)
    configuration = {
        "issuer": issuer,
        "jwks_uri": server_url + KEYS,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": sorted({key.algorithm for key in key_list}),
    }
    key_set = {"keys": [key.jwk for key in key_list]}
    for path, media_type, document in (
        (CONFIGURATION, JSON, configuration),
        (KEYS, "application/jwk-set+json", key_set),
    ):
        router.add_path(path, get=partial(_write, orjson.dumps(document), media_type))
    return True


def is_discoverable(issuer: str) -> bool:
    """Return whether OpenID Connect can discover documents under this issuer name."""
    try:
        parts = urlsplit(issuer)
    except ValueError:
        return False
    return parts.scheme == "https" and not parts.query and not parts.fragment


async def _write(data: bytes, media_type: str, req: Request, resp: Response) -> None:
    resp.content_type = media_type
    resp.set_header("cache-control", f"public, max-age={MAX_AGE}")
    resp.data = data
