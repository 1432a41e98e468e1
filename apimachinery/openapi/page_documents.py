"""OpenAPI v3 documents of the pages that belong to no version: discovery, version, token keys."""

from typing import Any, Final

from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML

_DISCOVERY: Final = (JSON, YAML, PROTOBUF)


def page_document(path: str, *, title: str, version: str) -> dict[str, Any]:
    """Return the document of one page; *path* has no slash at its ends, such as `apis/apps`."""
    description, name, tag, media_types = _describe(path)
    response = {"schema": {"type": "object"}}
    operation = {
        "description": description,
        "operationId": name,
        "responses": {
            "200": {"content": dict.fromkeys(media_types, response), "description": "OK"},
            "401": {"description": "Unauthorized"},
        },
        "tags": [tag],
    }
    return {
        "components": {
            "securitySchemes": {
                "BearerToken": {
                    "description": "Bearer Token authentication",
                    "in": "header",
                    "name": "authorization",
                    "type": "apiKey",
                }
            }
        },
        "info": {"title": title, "version": version},
        "openapi": "3.0.0",
        "paths": {f"/{path}/": {"get": operation}},
        "security": [{"BearerToken": []}],
    }


def _describe(path: str) -> tuple[str, str, str, tuple[str, ...]]:
    """Return the description, the name and the tag of the operation, and its media types."""
    match path.split("/"):
        case ["api"]:
            return "get available API versions", "getCoreAPIVersions", "core", _DISCOVERY
        case ["apis"]:
            return "get available API versions", "getAPIVersions", "apis", _DISCOVERY
        case ["apis", group]:
            parts = group.removesuffix(".k8s.io").split(".")
            name = "".join(part[:1].upper() + part[1:] for part in parts)
            tag = name[:1].lower() + name[1:]
            return "get information of a group", f"get{name}APIGroup", tag, _DISCOVERY
        case ["version"]:
            return (
                "get the version information for this server",
                "getCodeVersion",
                "version",
                (JSON,),
            )
        case ["openid", *_]:
            return (
                "get service account issuer OpenID JSON Web Key Set (contains public token"
                " verification keys)",
                "getServiceAccountIssuerOpenIDKeyset",
                "openid",
                ("application/jwk-set+json",),
            )
        case _:
            return (
                "get service account issuer OpenID configuration, also known as the 'OIDC"
                " discovery doc'",
                "getServiceAccountIssuerOpenIDConfiguration",
                "WellKnown",
                (JSON,),
            )
