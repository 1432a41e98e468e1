"""Creation: the steps between decoding a new object and storing it.

`begin_creation` runs once per request. `finish_creation` runs again, under another name, if a
generated name is taken.
"""

from typing import TypeVar

from apimachinery.errors import BadRequest
from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import (
    FINALIZERS,
    validate_object_meta,
    validate_qualified_finalizers,
)
from apimachinery.meta.options import CreateOptions, UpdateOptions
from apimachinery.meta.types import Object
from apiserver.admission.chain import Operation
from apiserver.context import RequestContext
from apiserver.registry.allocation import PendingReservations
from apiserver.registry.status import drop_status
from apiserver.registry.system_metadata import (
    drop_duplicate_owners,
    fill_system_fields,
    parse_resource_version,
    set_namespace,
)
from apiserver.registry.write_rules import WriteRules

T = TypeVar("T", bound=Object)
WriteOptions = CreateOptions | UpdateOptions


async def begin_creation(
    rules: WriteRules[T],
    obj: T,
    context: RequestContext,
    options: WriteOptions,
    *,
    track: bool = True,
) -> T:
    """Set the namespace of a new object and run mutating admission; return its result."""
    set_namespace(obj.metadata, rules.namespace_of(context))
    run = context.workload.run
    await run(drop_duplicate_owners, obj, context)
    if track:
        # Before anything else: the writer does not own what admission and the server set.
        if rules.replay is None:
            await run(rules.ownership.track, context, None, obj)
        else:
            await rules.replay.run(context, rules.ownership.track, context, None, obj)
    obj = await rules.mutate(Operation.CREATE, context, obj, options=options)
    await run(drop_duplicate_owners, obj, context, after_admission=True)
    # Admission may have changed the namespace.
    set_namespace(obj.metadata, rules.namespace_of(context))
    return obj


async def finish_creation(
    rules: WriteRules[T],
    obj: T,
    context: RequestContext,
    options: WriteOptions,
    *,
    pending: PendingReservations,
) -> None:
    """Fill in server-owned fields, validate the object, and run validating admission.

    *pending* holds what the object reserves, until it is stored.
    """
    # Not in another thread: the source of random numbers is shared.
    fill_system_fields(obj.metadata, rules.now(), rules.random)
    dry_run = context.dry_run or bool(options.dry_run)
    if rules.has_status and not rules.strategy.accepts_status_on_create:
        drop_status(obj)
    await rules.reserve(pending, obj, None, dry_run=dry_run)
    if not context.workload.is_heavy:
        context.workload.add_values(rules.strategy.effort(obj))
    await context.workload.run(_complete, rules, obj, context)
    await rules.admit(Operation.CREATE, context, obj, options=options, pending=pending)


def _complete(rules: WriteRules[T], obj: T, context: RequestContext) -> None:
    """Let the strategy prepare the object, and validate it."""
    meta, strategy = obj.metadata, rules.strategy
    strategy.prepare_for_create(obj)
    meta.generation = 0 if strategy.desired_state(obj) is None else 1
    declared = rules.declared_errors(context, obj, None)
    rules.check(context, meta.name, _errors(rules, obj), declared)
    rules.warn(context, obj, None)


def refuse_resource_version(obj: Object) -> None:
    """Raise BadRequest for a new object that has a resourceVersion."""
    try:
        revision = parse_resource_version(obj.metadata.resource_version)
    except BadRequest:
        return  # a malformed one names no state, and is overwritten when the object is stored
    if revision:
        raise BadRequest("resourceVersion should not be set on objects to be created")


def _errors(rules: WriteRules[T], obj: T) -> FieldErrors:
    yield from validate_object_meta(
        obj.metadata, namespaced=rules.namespaced, name_rule=rules.name_errors
    )
    if rules.strategy.qualified_finalizers:
        yield from validate_qualified_finalizers(obj.metadata.finalizers, FINALIZERS)
    yield from rules.strategy.validate(obj)
