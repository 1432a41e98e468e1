"""OpenAPI documents: one v3 document per group version, and one v2 document for the server."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from pydantic import BaseModel

from apimachinery.meta.discovery import APIResourceList
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import WatchEvent
from apimachinery.openapi.definition_names import VersionIndex
from apimachinery.openapi.definitions import Definitions, Patch, PublishedKind, kind_marker
from apimachinery.openapi.dialect import V2, V3, Schema
from apimachinery.openapi.operations import (
    PathItem,
    PathOperation,
    ResourceDescription,
    paths,
    published_kinds,
    tag,
)
from apimachinery.openapi.page_documents import page_types, page_v2
from apimachinery.openapi.request_parameters import Parameter
from apimachinery.schema import GroupVersion
from apimachinery.serialization.media_types import JSON, PROTOBUF, WATCH_STREAM, YAML

Document = dict[str, Any]

_ANY_TYPE: Final = "*/*"
_REASONS: Final = {"200": "OK", "201": "Created", "202": "Accepted", "401": "Unauthorized"}
_CODES: Final = {
    "post": ("200", "201", "202"),
    "put": ("200", "201"),
    "patch": ("200", "201"),
    "delete": ("200", "202"),
}
_TOKEN: Final = {
    "description": "A bearer token.",
    "in": "header",
    "name": "authorization",
    "type": "apiKey",
}


def index_versions(
    versions: Mapping[GroupVersion, Iterable[ResourceDescription]],
) -> VersionIndex:
    """Map the classes of all versions of a server to their versions, for `document_v3`."""
    return VersionIndex(
        (published.kind.group_version, published.cls)
        for version, resources in versions.items()
        for published in published_kinds(version, resources)
    )


def document_v3(
    *,
    title: str,
    version: str,
    group_version: GroupVersion,
    resources: Sequence[ResourceDescription],
    index: VersionIndex | None = None,
) -> Document:
    """Return the document served at `/openapi/v3/apis/<group>/<version>`.

    Without *index* all classes count as classes of *group_version*, even those that it borrows
    from another version, such as the pod template of a deployment.
    """
    index = index or VersionIndex(())
    items = paths(group_version, resources)
    definitions = Definitions(
        V3,
        _kinds({group_version: resources}),
        index=index,
        versions=[group_version],
        meta=_meta_types(items),
    )
    return {
        "components": {
            "schemas": definitions.schemas(),
            "securitySchemes": {"BearerToken": dict(_TOKEN)},
        },
        "info": {"title": title, "version": version},
        "openapi": "3.0.0",
        "paths": {item.path: _path_v3(item, group_version, definitions) for item in items},
    }


def document_v2(
    *,
    title: str,
    version: str,
    versions: Mapping[GroupVersion, Sequence[ResourceDescription]],
    pages: Sequence[str] = (),
) -> Document:
    """Return the document served at `/openapi/v2`, with every version of every group.

    *pages* are the paths that belong to no version, such as `apis/apps`.
    """
    items = {
        group_version: paths(group_version, resources)
        for group_version, resources in versions.items()
    }
    definitions = Definitions(
        V2,
        _kinds(versions),
        index=index_versions(versions),
        versions=versions,
        meta=_meta_types(chain.from_iterable(items.values())) | page_types(pages),
    )
    described = {
        item.path: _path_v2(item, group_version, definitions)
        for group_version, version_items in items.items()
        for item in version_items
    } | {f"/{page}/": page_v2(page, definitions) for page in pages}
    return {
        "definitions": definitions.schemas(),
        "info": {"title": title, "version": version},
        "paths": dict(sorted(described.items())),
        "security": [{"BearerToken": []}],
        "securityDefinitions": {"BearerToken": dict(_TOKEN)},
        "swagger": "2.0",
    }


def _kinds(
    versions: Mapping[GroupVersion, Iterable[ResourceDescription]],
) -> Iterable[PublishedKind]:
    """Return each kind once, with its list kind if any resource has one."""
    kinds: dict[Any, PublishedKind] = {}
    for version, resources in versions.items():
        for published in published_kinds(version, resources):
            earlier = kinds.get((published.kind, published.cls))
            if earlier is None or published.list_kind:
                kinds[published.kind, published.cls] = published
    return kinds.values()


def _path_v3(item: PathItem, version: GroupVersion, definitions: Definitions) -> Schema:
    operations = {
        operation.method: _operation_v3(
            operation, item.own_parameters(operation), version, definitions
        )
        for operation in item.operations
    }
    return _path(operations, [_parameter_v3(parameter) for parameter in item.parameters])


def _path(operations: Schema, parameters: list[Schema]) -> Schema:
    shared = {"parameters": parameters} if parameters else {}
    return dict(sorted({**operations, **shared}.items()))


def _operation_v3(
    operation: PathOperation,
    parameters: Iterable[Parameter],
    version: GroupVersion,
    definitions: Definitions,
) -> Schema:
    schema = _common(operation, version)
    if parameters:
        schema["parameters"] = [_parameter_v3(parameter) for parameter in parameters]
    body = _body(operation, definitions)
    if body is not None:
        schema["requestBody"] = {
            "content": {media_type: {"schema": body} for media_type in _consumed_types(operation)},
            **({"required": True} if operation.method != "delete" else {}),
        }
    content = {
        media_type: {"schema": _response_body(operation, definitions)}
        for media_type in _produced_types(operation)
    }
    schema["responses"] = {
        code: {**({"content": content} if code != "401" else {}), "description": _REASONS[code]}
        for code in _codes(operation)
    }
    return dict(sorted(schema.items()))


def _parameter_v3(parameter: Parameter) -> Schema:
    schema = _parameter(parameter)
    schema["schema"] = {"type": parameter.type, "uniqueItems": True}
    return schema


def _path_v2(item: PathItem, version: GroupVersion, definitions: Definitions) -> Schema:
    operations = {
        operation.method: _operation_v2(
            operation, item.own_parameters(operation), version, definitions
        )
        for operation in item.operations
    }
    return _path(operations, [_parameter_v2(parameter) for parameter in item.parameters])


def _operation_v2(
    operation: PathOperation,
    own_parameters: Iterable[Parameter],
    version: GroupVersion,
    definitions: Definitions,
) -> Schema:
    schema = _common(operation, version)
    parameters = [_parameter_v2(parameter) for parameter in own_parameters]
    body = _body(operation, definitions)
    if body is not None:
        required = {"required": True} if operation.method != "delete" else {}
        parameters.insert(0, {"in": "body", "name": "body", **required, "schema": body})
    if parameters:
        schema["parameters"] = parameters
    schema["consumes"] = _consumed_types(operation)
    schema["produces"] = _produced_types(operation)
    schema["schemes"] = ["https"]
    content = {"schema": _response_body(operation, definitions)}
    schema["responses"] = {
        code: {"description": _REASONS[code], **(content if code != "401" else {})}
        for code in _codes(operation)
    }
    return dict(sorted(schema.items()))


def _parameter_v2(parameter: Parameter) -> Schema:
    schema = _parameter(parameter)
    schema["type"] = parameter.type
    schema["uniqueItems"] = True
    return schema


def _parameter(parameter: Parameter) -> Schema:
    schema: Schema = {
        "description": parameter.description,
        "in": parameter.place,
        "name": parameter.name,
    }
    if parameter.place == "path":
        schema["required"] = True
    return schema


def _common(operation: PathOperation, version: GroupVersion) -> Schema:
    schema: Schema = {
        "description": operation.description,
        "operationId": operation.identifier,
        "tags": [tag(version)],
    }
    if operation.resource is not None and operation.resource.deprecated:
        schema["deprecated"] = True
    if operation.action and operation.kind is not None:
        schema["x-kubernetes-action"] = operation.action
        schema["x-kubernetes-group-version-kind"] = kind_marker(operation.kind)
    return schema


def _meta_types(items: Iterable[PathItem]) -> set[type[BaseModel]]:
    """Return the types of no group that operations refer to."""
    operations = [operation for item in items for operation in item.operations]
    types = (find(operation) for operation in operations for find in (_meta_body, _meta_response))
    return {found for found in types if found is not None}


def _meta_body(operation: PathOperation) -> type[BaseModel] | None:
    match operation.action:
        case "patch":
            return Patch
        case "delete" | "deletecollection":
            return DeleteOptions
        case _:
            return None


def _body(operation: PathOperation, definitions: Definitions) -> Schema | None:
    meta = _meta_body(operation)
    if meta is not None:
        return definitions.meta_reference(meta)
    if operation.action in ("post", "put") and operation.kind is not None:
        return definitions.reference(operation.kind)
    return None


def _meta_response(operation: PathOperation) -> type[BaseModel] | None:
    if operation.resource is None:
        return APIResourceList
    match operation.action:
        case "deletecollection":
            return Status
        case "delete" if not operation.resource.returns_deleted:
            return Status
        case "watch" | "watchlist":
            return WatchEvent
        case _:
            return None


def _response_body(operation: PathOperation, definitions: Definitions) -> Schema:
    meta = _meta_response(operation)
    if meta is not None:
        return definitions.meta_reference(meta)
    assert operation.kind is not None and operation.resource is not None
    if operation.action == "list":
        name = operation.resource.list_kind or f"{operation.resource.kind}List"
        return definitions.reference(operation.kind.group_version.with_kind(name))
    return definitions.reference(operation.kind)


def _consumed_types(operation: PathOperation) -> list[str]:
    if operation.resource is None:
        return _produced_types(operation)
    return sorted(operation.resource.patch_types) if operation.action == "patch" else [_ANY_TYPE]


def _produced_types(operation: PathOperation) -> list[str]:
    media_types = operation.resource.media_types if operation.resource else (JSON, YAML, PROTOBUF)
    streams = operation.action in ("list", "watch", "watchlist")
    streamed = [
        media_type + WATCH_STREAM for media_type in media_types if streams and media_type != YAML
    ]
    return sorted((*media_types, *streamed))


def _codes(operation: PathOperation) -> tuple[str, ...]:
    return (*_CODES.get(operation.action, ("200",)), "401")
