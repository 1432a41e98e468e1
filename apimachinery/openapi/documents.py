"""Whole documents: one of v3 for each version of a group, one of v2 for everything together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from apimachinery.meta.discovery import APIResourceList
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import WatchEvent
from apimachinery.openapi.definition_names import Owners
from apimachinery.openapi.definitions import Definitions, PublishedKind, kind_marker
from apimachinery.openapi.dialect import V2, V3, Schema
from apimachinery.openapi.operations import (
    PathItem,
    PathOperation,
    ResourceDescription,
    paths,
    published_kinds,
    tag,
)
from apimachinery.openapi.request_parameters import OF_ACTION, Parameter
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


def owners_of(versions: Mapping[GroupVersion, Iterable[ResourceDescription]]) -> Owners:
    """Which version each class of a server belongs to, for `document_v3` of each of them."""
    return Owners(
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
    owners: Owners | None = None,
    watch_paths: bool = False,
) -> Document:
    """The document served at `/openapi/v3/apis/<group>/<version>`.

    Without *owners* all classes are taken to belong to *group_version*, also those that it
    borrows from another, such as the pod template of a deployment.
    """
    owners = owners or Owners(())
    definitions = Definitions(V3, _kinds({group_version: resources}), owners=owners)
    found = paths(group_version, resources, watch_paths=watch_paths)
    return {
        "components": {
            "schemas": definitions.schemas(),
            "securitySchemes": {"BearerToken": dict(_TOKEN)},
        },
        "info": {"title": title, "version": version},
        "openapi": "3.0.0",
        "paths": {item.path: _path_v3(item, group_version, definitions) for item in found},
        "security": [{"BearerToken": []}],
    }


def document_v2(
    *,
    title: str,
    version: str,
    versions: Mapping[GroupVersion, Sequence[ResourceDescription]],
    watch_paths: bool = False,
) -> Document:
    """The document served at `/openapi/v2`, with every version of every group."""
    definitions = Definitions(V2, _kinds(versions), owners=owners_of(versions))
    found = {
        item.path: _path_v2(item, group_version, definitions)
        for group_version, resources in versions.items()
        for item in paths(group_version, resources, watch_paths=watch_paths)
    }
    return {
        "definitions": definitions.schemas(),
        "info": {"title": title, "version": version},
        "paths": dict(sorted(found.items())),
        "security": [{"BearerToken": []}],
        "securityDefinitions": {"BearerToken": dict(_TOKEN)},
        "swagger": "2.0",
    }


def _kinds(
    versions: Mapping[GroupVersion, Iterable[ResourceDescription]],
) -> Iterable[PublishedKind]:
    """Each kind once, with its list if any resource has one."""
    found: dict[Any, PublishedKind] = {}
    for version, resources in versions.items():
        for published in published_kinds(version, resources):
            known = found.get((published.kind, published.cls))
            if known is None or published.list_kind:
                found[published.kind, published.cls] = published
    return found.values()


def _path_v3(item: PathItem, version: GroupVersion, definitions: Definitions) -> Schema:
    found: Schema = {
        each.method: _operation_v3(each, version, definitions) for each in item.operations
    }
    if item.parameters:
        found["parameters"] = [_parameter_v3(each) for each in item.parameters]
    return dict(sorted(found.items()))


def _operation_v3(
    operation: PathOperation, version: GroupVersion, definitions: Definitions
) -> Schema:
    found = _common(operation, version)
    parameters = OF_ACTION.get(operation.action, ())
    if parameters:
        found["parameters"] = [_parameter_v3(each) for each in parameters]
    body = _body(operation, definitions)
    if body is not None:
        found["requestBody"] = {
            "content": {media: {"schema": body} for media in _consumed(operation)},
            **({"required": True} if operation.method != "delete" else {}),
        }
    answer = {media: {"schema": _answer(operation, definitions)} for media in _produced(operation)}
    found["responses"] = {
        code: {**({"content": answer} if code != "401" else {}), "description": _REASONS[code]}
        for code in _codes(operation)
    }
    return dict(sorted(found.items()))


def _parameter_v3(parameter: Parameter) -> Schema:
    found = _parameter(parameter)
    found["schema"] = {"type": parameter.type}
    return found


def _path_v2(item: PathItem, version: GroupVersion, definitions: Definitions) -> Schema:
    found: Schema = {
        each.method: _operation_v2(each, version, definitions) for each in item.operations
    }
    if item.parameters:
        found["parameters"] = [_parameter_v2(each) for each in item.parameters]
    return dict(sorted(found.items()))


def _operation_v2(
    operation: PathOperation, version: GroupVersion, definitions: Definitions
) -> Schema:
    found = _common(operation, version)
    parameters = [_parameter_v2(each) for each in OF_ACTION.get(operation.action, ())]
    body = _body(operation, definitions)
    if body is not None:
        required = {"required": True} if operation.method != "delete" else {}
        parameters.insert(0, {"in": "body", "name": "body", **required, "schema": body})
    if parameters:
        found["parameters"] = parameters
    found["consumes"] = _consumed(operation)
    found["produces"] = _produced(operation)
    found["schemes"] = ["https"]
    answer = {"schema": _answer(operation, definitions)}
    found["responses"] = {
        code: {"description": _REASONS[code], **(answer if code != "401" else {})}
        for code in _codes(operation)
    }
    return dict(sorted(found.items()))


def _parameter_v2(parameter: Parameter) -> Schema:
    found = _parameter(parameter)
    found["type"] = parameter.type
    return found


def _parameter(parameter: Parameter) -> Schema:
    found: Schema = {
        "description": parameter.description,
        "in": parameter.place,
        "name": parameter.name,
    }
    if parameter.place == "path":
        found["required"] = True
    return found


def _common(operation: PathOperation, version: GroupVersion) -> Schema:
    found: Schema = {
        "description": operation.description,
        "operationId": operation.identifier,
        "tags": [tag(version)],
    }
    if operation.resource is not None and operation.resource.deprecated:
        found["deprecated"] = True
    if operation.action and operation.kind is not None:
        found["x-kubernetes-action"] = operation.action
        found["x-kubernetes-group-version-kind"] = kind_marker(operation.kind)
    return found


def _body(operation: PathOperation, definitions: Definitions) -> Schema | None:
    if operation.action == "patch":
        return definitions.patch_reference()
    if operation.action in ("delete", "deletecollection"):
        return definitions.meta_reference(DeleteOptions)
    if operation.action in ("post", "put") and operation.kind is not None:
        return definitions.reference(operation.kind)
    return None


def _answer(operation: PathOperation, definitions: Definitions) -> Schema:
    if operation.kind is None or operation.resource is None:
        return definitions.meta_reference(APIResourceList)
    if operation.action in ("delete", "deletecollection"):
        return definitions.meta_reference(Status)
    if operation.action in ("watch", "watchlist"):
        return definitions.meta_reference(WatchEvent)
    if operation.action == "list":
        name = operation.resource.list_kind or f"{operation.resource.kind}List"
        return definitions.reference(operation.kind.group_version.with_kind(name))
    return definitions.reference(operation.kind)


def _consumed(operation: PathOperation) -> list[str]:
    if operation.action == "patch" and operation.resource is not None:
        return sorted(operation.resource.patch_types)
    return [_ANY_TYPE]


def _produced(operation: PathOperation) -> list[str]:
    media = operation.resource.media_types if operation.resource else (JSON, YAML, PROTOBUF)
    streams = operation.action in ("list", "watch", "watchlist")
    streamed = [each + WATCH_STREAM for each in media if streams and each != YAML]
    return sorted((*media, *streamed))


def _codes(operation: PathOperation) -> tuple[str, ...]:
    return (*_CODES.get(operation.action, ("200",)), "401")
