"""Creation: from an object as it was sent to the one that is stored.

Up to mutating admission an object is handled once. What follows may run again under another name,
when a generated one was taken.
"""

from typing import TypeVar

from apimachinery.errors import BadRequest
from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import validate_object_meta
from apimachinery.meta.options import CreateOptions, UpdateOptions
from apimachinery.meta.types import Object
from apiserver.admission.chain import Operation
from apiserver.context import RequestContext
from apiserver.registry.status import drop_status
from apiserver.registry.system_metadata import (
    drop_repeated_owners,
    fill_new,
    parse_version,
    settle_namespace,
)
from apiserver.registry.write_rules import WriteRules

T = TypeVar("T", bound=Object)
WriteOptions = CreateOptions | UpdateOptions


async def receive(
    rules: WriteRules[T], obj: T, context: RequestContext, options: WriteOptions
) -> T:
    """Put a new object into its place and let mutating admission see it."""
    settle_namespace(obj.metadata, rules.namespace_of(context))
    drop_repeated_owners(obj, context)
    obj = await rules.mutate(Operation.CREATE, context, obj, options=options)
    drop_repeated_owners(obj, context, after_admission=True)
    # Admission may have moved it.
    settle_namespace(obj.metadata, rules.namespace_of(context))
    return obj


async def complete(
    rules: WriteRules[T],
    obj: T,
    context: RequestContext,
    options: WriteOptions,
    *,
    track: bool = True,
) -> None:
    """Give a new object what the server decides, and make sure that it may be stored."""
    meta, strategy = obj.metadata, rules.strategy
    fill_new(meta, rules.now(), rules.random)
    if rules.has_status:
        drop_status(obj)
    strategy.prepare_for_create(obj)
    meta.generation = 0 if strategy.desired_state(obj) is None else 1
    if track:
        rules.ownership.track(context, None, obj)
    rules.check(meta.name, _errors(rules, obj))
    rules.warn(context, obj, None)
    await rules.admit(Operation.CREATE, context, obj, options=options)


def refuse_version(obj: Object) -> None:
    """Raise BadRequest for an object to be created that names a state it cannot have."""
    try:
        named = parse_version(obj.metadata.resource_version)
    except BadRequest:
        return  # no state at all; it is dropped like everything else the store decides
    if named:
        raise BadRequest("resourceVersion should not be set on objects to be created")


def _errors(rules: WriteRules[T], obj: T) -> FieldErrors:
    yield from validate_object_meta(
        obj.metadata, namespaced=rules.namespaced, name_rule=rules.name_errors
    )
    yield from rules.strategy.validate(obj)
