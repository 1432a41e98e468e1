"""Deletion: remove an object at once, or mark it as terminating.

A terminating object stays while it has finalizers, while its grace period lasts, or while its
dependents are to be orphaned or deleted first, for which garbage collection has finalizers of its
own.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from apimachinery.errors import Conflict, NotFound
from apimachinery.meta.metadata_validation import FINALIZER_FOREGROUND, FINALIZER_ORPHAN
from apimachinery.meta.options import BACKGROUND, FOREGROUND, ORPHAN, DeleteOptions
from apimachinery.meta.types import Object, Preconditions
from apimachinery.schema import GroupKind
from apiserver.admission.chain import Operation
from apiserver.context import RequestContext
from apiserver.registry.strategy import Strategy
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.objects import Intent, Keep, Put, Remove

T = TypeVar("T", bound=Object)

_DEPENDENTS: Final = (FINALIZER_ORPHAN, FINALIZER_FOREGROUND)


@dataclass(frozen=True)
class Deletion(Generic[T]):
    """One deletion of one object; called with the current object, it returns what to store."""

    rules: WriteRules[T]
    name: str
    options: DeleteOptions
    context: RequestContext

    async def __call__(self, current: T | None) -> Intent[T]:
        rules, options = self.rules, self.options
        if current is None:
            raise NotFound.of(rules.resource, self.name)
        if options.preconditions is not None:
            check_delete_preconditions(rules.kind, current, options.preconditions)
        context = self.context
        intent: Intent[T] = await context.workload.run(
            plan_deletion, rules.strategy, current, options, now=rules.now()
        )
        if isinstance(intent, Keep):
            return intent
        await rules.mutate(Operation.DELETE, context, None, old=current, options=options)
        await rules.admit(Operation.DELETE, context, None, old=current, options=options)
        if isinstance(intent, Put):
            return Put(intent.object, rules.seconds_to_live(intent.object))
        return intent


def warn_of_dependents(text: str, options: DeleteOptions, context: RequestContext) -> None:
    """Warn a client that does not say what becomes of dependents, if the kind has a *text*.

    As in Kubernetes, this precedes the search for the object.
    """
    if text and options.propagation_policy is None and options.orphan_dependents is None:
        context.warn(text)


def check_delete_preconditions(kind: GroupKind, obj: Object, expected: Preconditions) -> None:
    """Raise Conflict if the uid or the resourceVersion of *obj* is not the expected one."""
    meta = obj.metadata
    if expected.uid not in (None, meta.uid):
        raise Conflict.of(
            kind,
            meta.name,
            f"the UID in the precondition ({expected.uid}) does not match the UID in record"
            f" ({meta.uid}). The object might have been deleted and then recreated",
        )
    if expected.resource_version not in (None, meta.resource_version):
        raise Conflict.of(
            kind,
            meta.name,
            f"the ResourceVersion in the precondition ({expected.resource_version}) does not match"
            f" the ResourceVersion in record ({meta.resource_version})."
            " The object might have been modified",
        )


def plan_deletion(
    strategy: Strategy[T], obj: T, options: DeleteOptions, *, now: datetime
) -> Intent[T]:
    """Return what a deletion does to *obj*, without changing it."""
    options = _correct_grace_period(options)
    if _is_pending(obj, options):
        return Keep(obj)
    grace = _grace_period(strategy, obj, options)
    finalizers = obj.metadata.finalizers
    if strategy.collects_garbage:
        finalizers = _finalizers(strategy, finalizers, options)
    removed = not grace and not finalizers and strategy.may_be_removed(obj)
    if removed and grace is None:
        return Remove(obj)
    marked = obj.deep_copy()
    marked.metadata.finalizers = finalizers
    _mark(marked, grace=grace or 0, now=now)
    if removed:
        return Remove(marked)
    strategy.prepare_for_deletion(marked)
    return Put(marked)


def _correct_grace_period(options: DeleteOptions) -> DeleteOptions:
    """Replace a negative grace period by one second, as Kubernetes does."""
    seconds = options.grace_period_seconds
    if seconds is None or seconds >= 0:
        return options
    corrected = options.deep_copy()
    corrected.grace_period_seconds = 1
    return corrected


def _is_pending(obj: Object, options: DeleteOptions) -> bool:
    """Return whether a graceful deletion is under way that this one does not shorten."""
    pending, requested = obj.metadata.deletion_grace_period_seconds, options.grace_period_seconds
    if obj.metadata.deletion_timestamp is None or not pending:
        return False
    return requested is None or requested >= pending


def _grace_period(strategy: Strategy[T], obj: T, options: DeleteOptions) -> int | None:
    """Return the grace period in seconds, None for a deletion without one."""
    if obj.metadata.deletion_timestamp is None:
        grace = strategy.grace_period(obj, options)
        return grace if grace is None or grace >= 0 else 1
    return options.grace_period_seconds if obj.metadata.deletion_grace_period_seconds else None


def _mark(obj: Object, *, grace: int, now: datetime) -> None:
    """Mark *obj* as terminating, with a grace period that counts from the first deletion."""
    meta = obj.metadata
    if meta.deletion_timestamp is None:
        meta.deletion_timestamp = now + timedelta(seconds=grace)
        if meta.generation > 0:
            meta.generation += 1
    elif meta.deletion_grace_period_seconds:
        began = meta.deletion_timestamp - timedelta(seconds=meta.deletion_grace_period_seconds)
        meta.deletion_timestamp = began + timedelta(seconds=grace)
    else:
        meta.deletion_timestamp = min(meta.deletion_timestamp, now)
    meta.deletion_grace_period_seconds = grace


def _finalizers(strategy: Strategy[T], present: list[str], options: DeleteOptions) -> list[str]:
    """Return the finalizers with that of the propagation policy, and no other policy's."""
    policy = _policy(strategy, present, options)
    own = {ORPHAN: [FINALIZER_ORPHAN], FOREGROUND: [FINALIZER_FOREGROUND]}.get(policy, [])
    others = [finalizer for finalizer in present if finalizer not in _DEPENDENTS]
    finalizers = [*others, *own]
    # Keep the order of an unchanged set.
    return present if set(finalizers) == set(present) else finalizers


def _policy(strategy: Strategy[T], finalizers: list[str], options: DeleteOptions) -> str:
    """Return the policy of the request, else that of the object's finalizers, else the kind's."""
    if options.orphan_dependents is not None:
        return ORPHAN if options.orphan_dependents else BACKGROUND
    if options.propagation_policy is not None:
        return options.propagation_policy
    for finalizer in finalizers:
        if finalizer == FINALIZER_ORPHAN:
            return ORPHAN
        if finalizer == FINALIZER_FOREGROUND:
            return FOREGROUND
    return ORPHAN if strategy.orphans_by_default else BACKGROUND
