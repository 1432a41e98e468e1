"""Update: what becomes of a stored object that somebody changes.

The decision is made on the newest state and, if somebody else was faster, again on theirs. So it is
a function of the current object that can run any number of times; only the store writes.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from apimachinery.errors import Conflict, Invalid, NotFound
from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import (
    validate_conditional_update,
    validate_object_meta_update,
)
from apimachinery.meta.options import UpdateOptions
from apimachinery.meta.types import Object, ObjectMeta, Preconditions
from apimachinery.model.semantic_equality import equal
from apimachinery.schema import GroupKind
from apiserver.admission.chain import Operation
from apiserver.context import RequestContext
from apiserver.managed_fields.ownership import forget_new_times
from apiserver.registry.creation import complete, receive
from apiserver.registry.status import keep_status, only_status
from apiserver.registry.system_metadata import (
    carry_over,
    check_name,
    drop_repeated_owners,
    parse_version,
    settle_namespace,
)
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.objects import Intent, PreconditionFailed, Put, Remove, check_preconditions

T = TypeVar("T", bound=Object)


def replacement(obj: T) -> Callable[[T], T]:
    """The change that replaces whatever there is by *obj*, as PUT does."""
    return lambda current: obj.deep_copy()


@dataclass(frozen=True)
class ObjectUpdate(Generic[T]):
    """One update of one object; calling it with the current object says what to store.

    *change* gets the current object, which it must not change, and returns one that from there on
    belongs to the update. *create_if_missing* gives the object to create where there is none.
    """

    rules: WriteRules[T]
    key: str
    name: str
    change: Callable[[T], T]
    context: RequestContext
    options: UpdateOptions
    subresource: str = ""
    create_if_missing: Callable[[], Awaitable[T]] | None = None
    uid: str = ""
    """The object must have this uid, if one is given."""
    track: bool = True
    """Whether managedFields are brought up to date; an apply has done so itself."""

    async def __call__(self, current: T | None) -> Intent[T]:
        self._check_uid(current)
        if current is None:
            return await self._create()
        rules, context = self.rules, self.context
        new = self.change(current)
        self._place(new)
        self._check_version(new.metadata, current.metadata)
        drop_repeated_owners(new, context)
        new = await rules.mutate(Operation.UPDATE, context, new, old=current, options=self.options)
        drop_repeated_owners(new, context, after_admission=True)
        new = self._prepared(new, current)
        if self.track:
            rules.ownership.track(context, current, new)
        forget_new_times(new, current)
        rules.check(self.name, self._errors(new, current))
        rules.warn(context, new, current)
        await rules.admit(Operation.UPDATE, context, new, old=current, options=self.options)
        if self._is_last_word(new, current):
            return Remove(new)
        return Put(new, rules.seconds_to_live(new))

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
        obj = await receive(self.rules, obj, self.context, self.options)
        await complete(self.rules, obj, self.context, self.options, track=self.track)
        return Put(obj, self.rules.seconds_to_live(obj))

    def _check_uid(self, current: T | None) -> None:
        if not self.uid:
            return
        try:
            check_preconditions(self.key, current, Preconditions(uid=self.uid))
        except PreconditionFailed as error:
            raise Conflict.of(self.rules.resource, self.name, str(error)) from error

    def _place(self, new: T) -> None:
        namespace = self.rules.namespace_of(self.context)
        check_name(new.metadata, self.name, namespace)
        settle_namespace(new.metadata, namespace)

    def _check_version(self, new: ObjectMeta, current: ObjectMeta) -> None:
        named = parse_version(new.resource_version)
        if named == 0 and not self.rules.strategy.allow_unconditional_update:
            resource = self.rules.resource
            # The wire has the resource where every other Invalid has the kind.
            kind = GroupKind(resource.group, resource.resource)
            raise Invalid.of(kind, self.name, validate_conditional_update(new.resource_version))
        if named not in (0, int(current.resource_version)):
            raise Conflict.modified(self.rules.resource, self.name)
        new.resource_version = current.resource_version

    def _prepared(self, new: T, current: T) -> T:
        if self.subresource == "status":
            return only_status(new, current)
        carry_over(new.metadata, current.metadata)
        strategy = self.rules.strategy
        if self.rules.has_status:
            keep_status(new, current)
        strategy.prepare_for_update(new, current)
        wanted, before = strategy.desired_state(new), strategy.desired_state(current)
        if wanted != before and not equal(wanted, before):
            new.metadata.generation = current.metadata.generation + 1
        return new

    def _errors(self, new: T, current: T) -> FieldErrors:
        yield from validate_object_meta_update(new.metadata, current.metadata)
        strategy = self.rules.strategy
        if self.subresource == "status":
            yield from strategy.validate_status_update(new, current)
        else:
            yield from strategy.validate_update(new, current)

    def _is_last_word(self, new: T, current: T) -> bool:
        """Whether nobody holds up a deletion any more that was waiting for this update."""
        return (
            current.metadata.deletion_timestamp is not None
            and not new.metadata.finalizers
            and not current.metadata.deletion_grace_period_seconds
            and self.rules.strategy.may_be_removed(new)
        )
