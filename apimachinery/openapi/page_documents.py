"""OpenAPI of the pages that belong to no version: discovery, version, token keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from apimachinery.meta.discovery import APIGroup, APIGroupList, APIVersions
from apimachinery.model.model import Model, field
from apimachinery.openapi.definitions import Definitions
from apimachinery.openapi.dialect import V3, Schema
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML

_DISCOVERY: Final = (JSON, YAML, PROTOBUF)


class VersionInfo(Model, definition="io.k8s.apimachinery.pkg.version.Info"):
    """The Kubernetes version that the server is compatible with, and how the server was built."""

    major: str = field("", omit_empty=False, doc="The major version.")
    minor: str = field("", omit_empty=False, doc="The minor version.")
    emulation_major: str = field("", doc="The major version that the server emulates.")
    emulation_minor: str = field("", doc="The minor version that the server emulates.")
    min_compatibility_major: str = field("", doc="The oldest compatible major version.")
    min_compatibility_minor: str = field("", doc="The oldest compatible minor version.")
    git_version: str = field("", omit_empty=False, doc="The whole version.")
    git_commit: str = field("", omit_empty=False, doc="The commit that was built.")
    git_tree_state: str = field("", omit_empty=False, doc="Whether it was built unchanged.")
    build_date: str = field("", omit_empty=False, doc="When it was built.")
    go_version: str = field("", omit_empty=False, doc="The version of the language.")
    compiler: str = field("", omit_empty=False, doc="The implementation of the language.")
    platform: str = field("", omit_empty=False, doc="The operating system and architecture.")


@dataclass(frozen=True, slots=True)
class _Page:
    """A page, and what its only operation, GET, responds with: a string if it has no class."""

    description: str
    identifier: str
    tag: str
    produced: tuple[str, ...]
    cls: type[BaseModel] | None = None
    consumed: tuple[str, ...] = ()


def page_document(path: str, *, title: str, version: str) -> dict[str, Any]:
    """Return the v3 document of one page; *path* has no slash at its ends, such as `apis/apps`."""
    page = _page(path)
    definitions = Definitions(V3, (), meta=page_types([path]))
    response = {"schema": _response(page, definitions)}
    operation = _operation(page)
    operation["responses"]["200"]["content"] = dict.fromkeys(sorted(page.produced), response)
    schemas = definitions.schemas()
    return {
        "components": {
            **({"schemas": schemas} if schemas else {}),
            "securitySchemes": {
                "BearerToken": {
                    "description": "Bearer Token authentication",
                    "in": "header",
                    "name": "authorization",
                    "type": "apiKey",
                }
            },
        },
        "info": {"title": title, "version": version},
        "openapi": "3.0.0",
        "paths": {f"/{path}/": {"get": operation}},
    }


def page_types(paths: Iterable[str]) -> set[type[BaseModel]]:
    """Return the types that the definitions of a document with these pages need."""
    return {page.cls for page in map(_page, paths) if page.cls is not None}


def page_v2(path: str, definitions: Definitions) -> Schema:
    """Return the path item of a page in a v2 document."""
    page = _page(path)
    operation = _operation(page)
    operation["responses"]["200"]["schema"] = _response(page, definitions)
    if page.consumed:
        operation["consumes"] = [*page.consumed]
    return {"get": {**operation, "produces": [*page.produced], "schemes": ["https"]}}


def _operation(page: _Page) -> Schema:
    return {
        "description": page.description,
        "operationId": page.identifier,
        "responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}},
        "tags": [page.tag],
    }


def _response(page: _Page, definitions: Definitions) -> Schema:
    return {"type": "string"} if page.cls is None else definitions.meta_reference(page.cls)


def _page(path: str) -> _Page:
    match path.split("/"):
        case ["api"]:
            return _discovery(
                "get available API versions", "getCoreAPIVersions", "core", APIVersions
            )
        case ["apis"]:
            return _discovery("get available API versions", "getAPIVersions", "apis", APIGroupList)
        case ["apis", group]:
            parts = group.removesuffix(".k8s.io").split(".")
            name = "".join(part[:1].upper() + part[1:] for part in parts)
            tag = name[:1].lower() + name[1:]
            return _discovery("get information of a group", f"get{name}APIGroup", tag, APIGroup)
        case ["version"]:
            text = "get the version information for this server"
            return _Page(text, "getCodeVersion", "version", (JSON,), VersionInfo, consumed=(JSON,))
        case ["openid", *_]:
            return _Page(
                "get service account issuer OpenID JSON Web Key Set (contains public token"
                " verification keys)",
                "getServiceAccountIssuerOpenIDKeyset",
                "openid",
                ("application/jwk-set+json",),
            )
        case _:
            return _Page(
                "get service account issuer OpenID configuration, also known as the 'OIDC"
                " discovery doc'",
                "getServiceAccountIssuerOpenIDConfiguration",
                "WellKnown",
                (JSON,),
            )


def _discovery(description: str, identifier: str, tag: str, cls: type[BaseModel]) -> _Page:
    return _Page(description, identifier, tag, _DISCOVERY, cls, consumed=_DISCOVERY)
