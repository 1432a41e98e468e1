"""Server-side apply: a client declares fields, and becomes their owner.

An object that does not exist is created. `apimachinery.apply` decides what an apply changes, by the
owners of the fields; this module connects it to the store.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from apimachinery.apply import ApplyConflict, ApplyError
from apimachinery.apply.field_manager import check_applied_scalars, describe_object
from apimachinery.codec import FieldValidation
from apimachinery.errors import (
    APIError,
    BadRequest,
    Conflict,
    Invalid,
    RequestEntityTooLarge,
    UnsupportedMediaType,
)
from apimachinery.meta.options import PatchOptions, UpdateOptions
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError
from apimachinery.model.deprecated_fields import deprecated_uses
from apimachinery.model.go_conversion import conversion_error
from apimachinery.patch.json_values import json_type
from apimachinery.schema import GroupVersionKind, InvalidGroupVersion
from apimachinery.serialization.document_size import TooLarge
from apimachinery.serialization.media_types import YAML
from apimachinery.serialization.serializer import read_yaml, yaml_error
from apiserver.context import RequestContext
from apiserver.endpoint import Endpoint, field_validation
from apiserver.handlers.body import updated_object, valid_object, warn_of_deprecated
from apiserver.registry.object_update import Draft

Document = dict[str, Any]


async def apply(
    endpoint: Endpoint,
    context: RequestContext,
    body: bytes,
    options: PatchOptions,
    permit: Callable[[str], Awaitable[None]],
) -> tuple[Object, bool]:
    """Apply the configuration in *body*; return the object and whether it was created.

    *permit* authorizes another verb for the same request, and raises Forbidden.
    """
    change = await applied_change(endpoint, context, body, options)

    async def create() -> Object:
        await permit("create")
        new = await context.workload.run(change, None)
        return valid_object(endpoint, new, None, name=context.name)

    return await endpoint.stored.update(
        context.name,
        change,
        context,
        UpdateOptions(dry_run=options.dry_run, field_manager=options.field_manager),
        create_if_missing=None if context.subresource else create,
        track=False,
    )


async def applied_change(
    endpoint: Endpoint, context: RequestContext, body: bytes, options: PatchOptions
) -> Callable[[Object | None], Object | Draft[Object]]:
    """Decode the configuration in *body*; return what applies it to the current object."""
    ownership = endpoint.stored.rules.ownership
    if not ownership.supports_apply:
        raise UnsupportedMediaType.of(endpoint.patch_types[:-1])
    applied = await decode_configuration(endpoint.kind, body, field_validation(options), context)
    uses = await context.workload.run(deprecated_uses, applied, endpoint.cls)
    warn_of_deprecated(uses, context)

    def change(current: Object | None) -> Object | Draft[Object]:
        try:
            document = ownership.apply(context, current, applied, force=bool(options.force))
        except ApplyConflict as error:
            # The types of the configuration come first, but are checked after an error only.
            problem = _scalar_problem(endpoint, applied)
            raise BadRequest(problem) if problem else api_error_of(error) from None
        except ApplyError as error:
            raise api_error_of(error) from None
        return _decode(endpoint, document, applied, context)

    return change


async def decode_configuration(
    kind: GroupVersionKind, body: bytes, validation: FieldValidation, context: RequestContext
) -> Document:
    """Decode an applied configuration. Raises BadRequest unless it is of that kind."""
    context.workload.add(body, YAML)
    return await context.workload.run(_decode_configuration, kind, body, validation, context)


def _decode_configuration(
    kind: GroupVersionKind, body: bytes, validation: FieldValidation, context: RequestContext
) -> Document:
    try:
        read = read_yaml(body, True)
    except TooLarge as error:
        raise RequestEntityTooLarge(str(error)) from None
    except DecodeError as error:
        problem = f"error converting YAML to JSON: {error}"
        raise BadRequest(f"error decoding patch: {problem}") from None
    _report_problems(read.yaml_messages, validation, context)
    document = orjson.loads(read.json)
    if not isinstance(document, dict):
        raise BadRequest(
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot"
            f" unmarshal {json_type(document)} into Go value of type map[string]interface {{}}"
        )
    declared = _kind(document)
    if declared != kind:
        raise BadRequest(f"invalid object type: {declared}")
    return document


def api_error_of(error: ApplyError) -> APIError:
    """Translate the failure of an apply for the client."""
    if isinstance(error, ApplyConflict):
        conflicts = [(conflict.message, conflict.field) for conflict in error.conflicts]
        return Conflict.apply(str(error), conflicts)
    return BadRequest(str(error))


def _report_problems(
    problems: tuple[str, ...], validation: FieldValidation, context: RequestContext
) -> None:
    if validation is FieldValidation.STRICT and problems:
        raise BadRequest(f"error strict decoding YAML: {yaml_error(problems)}")
    if validation is FieldValidation.WARN:
        for text in problems:
            context.warn(text)


def _kind(document: Document) -> GroupVersionKind:
    version, kind = document.get("apiVersion") or "", document.get("kind") or ""
    if not isinstance(version, str) or not isinstance(kind, str):
        raise BadRequest("error decoding YAML: apiVersion and kind must be strings")
    try:
        return GroupVersionKind.from_api_version(version, kind)
    except InvalidGroupVersion as error:
        raise BadRequest(str(error)) from None


def _decode(
    endpoint: Endpoint, document: Document, applied: Document, context: RequestContext
) -> Object | Draft[Object]:
    try:
        decoded = endpoint.codec.for_apply.decode_internal(
            orjson.dumps(document), expected=endpoint.kind, lenient=True
        )
    except TooLarge as error:
        raise RequestEntityTooLarge(str(error)) from None
    except DecodeError as error:
        if error.fields:
            kind = endpoint.kind.group_kind
            raise Invalid.of(kind, context.name, error.fields) from None
        raise BadRequest(_decode_problem(endpoint, document, applied, error)) from None
    return updated_object(endpoint, decoded)


def _decode_problem(
    endpoint: Endpoint, document: Document, applied: Document, error: DecodeError
) -> str:
    """Return why the result of an apply cannot be decoded: its types, or else its conversion."""
    if issubclass(endpoint.cls, Unstructured):
        return str(error)
    if problem := _scalar_problem(endpoint, applied):
        return problem
    reason = conversion_error(endpoint.cls, document) or str(error)
    kind = f"{endpoint.kind.group}/{endpoint.kind.version}, Kind={endpoint.kind.kind}"
    return (
        f"failed to convert new object ({describe_object(applied)}) to proper version:"
        f" unable to convert unstructured object to {kind}: {reason}"
    )


def _scalar_problem(endpoint: Endpoint, applied: Document) -> str:
    """Return which scalars of the configuration have other types than declared."""
    if issubclass(endpoint.cls, Unstructured):
        return ""
    try:
        check_applied_scalars(applied, endpoint.shape)
    except ApplyError as problem:
        return str(problem)
    return ""
