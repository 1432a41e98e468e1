"""Update: the steps between a change of an object and storing the result.

An update runs on the newest object and, after a conflict with another writer, again on theirs. So
it is a function of the current object without effects of its own; only the store writes.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeAlias, TypeVar

from apimachinery.errors import Conflict, Invalid, NotFound
from apimachinery.fieldpath import ErrorType, FieldError, FieldErrors
from apimachinery.meta.metadata_validation import (
    FINALIZERS,
    validate_conditional_update,
    validate_object_meta_update,
    validate_qualified_finalizers,
)
from apimachinery.meta.options import UpdateOptions
from apimachinery.meta.types import Object, ObjectMeta, Preconditions
from apimachinery.model.semantic_equality import equal
from apimachinery.ratcheting import new_errors
from apimachinery.schema import GroupKind
from apiserver.admission.chain import Operation
from apiserver.context import RequestContext
from apiserver.managed_fields.ownership import forget_new_times
from apiserver.registry.allocation import PendingReservations
from apiserver.registry.creation import begin_creation, finish_creation
from apiserver.registry.status import keep_status, only_status
from apiserver.registry.system_metadata import (
    check_name,
    drop_duplicate_owners,
    keep_system_fields,
    parse_resource_version,
    set_namespace,
)
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.objects import Intent, PreconditionFailed, Put, Remove, check_preconditions

T = TypeVar("T", bound=Object)

_CONDITIONS: Final = "status.conditions["


@dataclass(frozen=True, slots=True)
class Draft(Generic[T]):
    """A new object with values that break constraints of the version it was decoded from."""

    object: T
    errors: tuple[FieldError, ...]
    errors_of: Callable[[T], Iterable[FieldError]]
    """Returns the errors of the current object by the same constraints."""

    def copy(self) -> "Draft[T]":
        return replace(self, object=self.object.deep_copy())

    def new_errors(self, current: T) -> list[FieldError]:
        """Return the errors that the current object does not have."""
        return new_errors(self.errors, _old_errors(self.errors_of, current))


Change: TypeAlias = Callable[[T], T | Draft[T]]
"""Returns the new object for the current one, which it must not modify."""


def replacement(new: T | Draft[T]) -> Change[T]:
    """Return the change that replaces the current object by *new*, as PUT does."""
    if isinstance(new, Draft):
        return lambda current: new.copy()
    return lambda current: new.deep_copy()


def check_uid(rules: WriteRules[T], key: str, current: T | None, name: str, uid: str) -> None:
    """Raise Conflict unless the current object has the uid that an update names, if any."""
    if not uid:
        return
    try:
        check_preconditions(key, current, Preconditions(uid=uid))
    except PreconditionFailed as error:
        raise Conflict.of(rules.resource, name, str(error)) from error


@dataclass(frozen=True)
class ObjectUpdate(Generic[T]):
    """One update of one object; called with the current object, it returns what to store.

    The object that *change* returns belongs to the update. *create_if_missing* returns the object
    to create if there is none.
    """

    rules: WriteRules[T]
    key: str
    name: str
    change: Change[T]
    context: RequestContext
    options: UpdateOptions
    subresource: str = ""
    create_if_missing: Callable[[], Awaitable[T]] | None = None
    uid: str = ""
    """If given, the uid that the current object must have."""
    track: bool = True
    """Whether to update managedFields; an apply has done so itself."""
    pending: PendingReservations = field(default_factory=PendingReservations)
    """What the object reserves outside of itself, until it is stored."""

    async def __call__(self, current: T | None) -> Intent[T]:
        if self.pending.held:
            await self.pending.revert()
        check_uid(self.rules, self.key, current, self.name, self.uid)
        if current is None:
            return await self._create()
        rules, context, replay = self.rules, self.context, self.rules.replay
        if replay is None:
            new = await context.workload.run(self._changed, current)
        else:
            new = await replay.run(context, self._changed, current)
        new = await rules.mutate(Operation.UPDATE, context, new, old=current, options=self.options)
        if not self.subresource:
            await rules.reserve(self.pending, new, current, dry_run=self._dry_run)
        if not context.workload.is_heavy:
            context.workload.add_values(rules.strategy.effort(new))
        if replay is None:
            new = await context.workload.run(self._complete, new, current)
        else:
            new = await replay.run(context, self._complete, new, current)
        await rules.admit(
            Operation.UPDATE,
            context,
            new,
            old=current,
            options=self.options,
            pending=self.pending,
        )
        if self._unblocks_deletion(new, current):
            return Remove(new)
        return Put(new, rules.seconds_to_live(new))

    def _changed(self, current: T) -> T:
        """Return the new object, as the client wants it."""
        changed = self.change(current)
        new = changed.object if isinstance(changed, Draft) else changed
        self._set_namespace(new)
        self._check_version(new.metadata, current.metadata)
        if isinstance(changed, Draft):
            self._check_values(changed, current)
        drop_duplicate_owners(new, self.context)
        if self.track:
            # Before admission and the strategy: the writer does not own what they set.
            self.rules.ownership.track(self.context, current, new)
        return new

    def _complete(self, new: T, current: T) -> T:
        """Set server-owned fields and the owners of fields, and validate the new object."""
        rules, context = self.rules, self.context
        drop_duplicate_owners(new, context, after_admission=True)
        new = self._prepare(new, current)
        forget_new_times(new, current)
        declared = self._new_declared_errors(new, current)
        rules.check(context, self.name, self._new_errors(new, current), declared)
        if self.subresource != "status":
            rules.warn(context, new, current)
        return new

    async def _create(self) -> Intent[T]:
        if self.create_if_missing is None:
            raise NotFound.of(self.rules.resource, self.name)
        obj = await self.create_if_missing()
        if obj.metadata.uid:
            raise Conflict.of(
                self.rules.resource,
                self.name,
                f"uid mismatch: the provided object specified uid {obj.metadata.uid},"
                " and no existing object was found",
            )
        check_name(obj.metadata, self.name, self.rules.namespace_of(self.context))
        obj = await begin_creation(self.rules, obj, self.context, self.options, track=self.track)
        await finish_creation(self.rules, obj, self.context, self.options, pending=self.pending)
        return Put(obj, self.rules.seconds_to_live(obj))

    @property
    def _dry_run(self) -> bool:
        return self.context.dry_run or bool(self.options.dry_run)

    def _set_namespace(self, new: T) -> None:
        namespace = self.rules.namespace_of(self.context)
        check_name(new.metadata, self.name, namespace)
        set_namespace(new.metadata, namespace)

    def _check_version(self, new: ObjectMeta, current: ObjectMeta) -> None:
        expected = parse_resource_version(new.resource_version)
        if expected == 0 and not self.rules.strategy.allow_unconditional_update:
            resource = self.rules.resource
            # Kubernetes names the resource here, where every other Invalid names the kind.
            kind = GroupKind(resource.group, resource.resource)
            raise Invalid.of(kind, self.name, validate_conditional_update(new.resource_version))
        if expected not in (0, int(current.resource_version)):
            raise Conflict.modified(self.rules.resource, self.name)
        new.resource_version = current.resource_version

    def _prepare(self, new: T, current: T) -> T:
        strategy = self.rules.strategy
        if self.subresource == "status":
            keep_system_fields(new.metadata, current.metadata)
            new = only_status(new, current, with_metadata=strategy.status_updates_metadata)
            strategy.prepare_for_status_update(new, current)
            return new
        keep_system_fields(new.metadata, current.metadata)
        if self.rules.has_status and strategy.keeps_status:
            keep_status(new, current)
        strategy.prepare_for_update(new, current)
        after, before = strategy.desired_state(new), strategy.desired_state(current)
        if after != before and not equal(after, before):
            new.metadata.generation = current.metadata.generation + 1
        return new

    def _check_values(self, draft: Draft[T], current: T) -> None:
        """Raise Invalid if the part that this update writes has invalid values that are new.

        Admission and strategies are written for valid values, so this is checked before them.
        """
        errors = [error for error in draft.new_errors(current) if self._writes(error.field)]
        if self.rules.strategy.validates_conditions:
            errors = [error for error in errors if not error.field.startswith(_CONDITIONS)]
        if errors:
            # The fields already have the names of the request's version.
            raise Invalid.of(self.rules.kind, self.name, errors)

    def _writes(self, field: str) -> bool:
        if not self.rules.has_status:
            return True
        return (field.partition(".")[0] == "status") == (self.subresource == "status")

    def _new_errors(self, new: T, current: T) -> list[FieldError]:
        """Return the errors of *new* that the current object does not have."""
        errors = list(self._errors(new, current))
        if errors and self.rules.strategy.ratchets:
            return new_errors(errors, _old_errors(self._errors_before, current))
        return errors

    def _new_declared_errors(self, new: T, current: T) -> list[FieldError]:
        """Return the errors of rules that fields declare, without those of the current object."""

        def declared(obj: T) -> FieldErrors:
            return self.rules.declared_errors(self.context, obj, current)

        errors = list(declared(new))
        if errors and self.rules.strategy.ratchets:
            return new_errors(errors, _old_errors(declared, current))
        return errors

    def _errors_before(self, current: T) -> list[FieldError]:
        # A copy, because a strategy may change what it validates.
        unchanged = current.deep_copy()
        errors = list(self._errors(unchanged, current))
        return new_errors(errors, self._transition_errors(unchanged, current))

    def _transition_errors(self, unchanged: T, current: T) -> Iterable[FieldError]:
        """Return the errors that are about the change, even if nothing changes.

        A strategy may require that a value changes, or forbid any change of some objects.
        """
        strategy = self.rules.strategy
        if self.subresource == "status":
            errors = strategy.validate_status_update(unchanged, current)
            return [error for error in errors if error.type is ErrorType.FORBIDDEN]
        return new_errors(
            strategy.validate_update(unchanged, current), strategy.validate(unchanged)
        )

    def _errors(self, new: T, current: T) -> FieldErrors:
        yield from validate_object_meta_update(new.metadata, current.metadata)
        strategy = self.rules.strategy
        if self.subresource == "status":
            yield from strategy.validate_status_update(new, current)
        else:
            if strategy.qualified_finalizers:
                yield from validate_qualified_finalizers(new.metadata.finalizers, FINALIZERS)
            yield from strategy.validate_update(new, current)

    def _unblocks_deletion(self, new: T, current: T) -> bool:
        """Return whether this update unblocks a pending deletion."""
        return (
            current.metadata.deletion_timestamp is not None
            and not new.metadata.finalizers
            and not current.metadata.deletion_grace_period_seconds
            and self.rules.strategy.may_be_removed(new)
        )


def _old_errors(validate: Callable[[T], Iterable[FieldError]], current: T) -> list[FieldError]:
    """Return the errors of the current object, none if *validate* fails.

    Rules are written for new objects. If they fail on an old one, the errors of the new object are
    still the answer.
    """
    try:
        return list(validate(current))
    except Exception:
        return []
