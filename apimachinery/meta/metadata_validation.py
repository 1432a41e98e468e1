"""Validation of ObjectMeta and of the other types that all groups share.

The validation of a group calls these functions for the parts of its objects that it does not define
itself. All are generators of field errors with Kubernetes' messages. The rule for names depends on
the kind: the caller passes one of the `NameRule`s here, or its own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    quote,
    required,
    too_long,
)
from apimachinery.meta.conditions import UNSET_TIME
from apimachinery.meta.options_validation import is_plain_field_manager, validate_field_manager
from apimachinery.meta.types import (
    Condition,
    LabelSelector,
    LabelSelectorRequirement,
    ManagedFieldsEntry,
    ObjectMeta,
    OwnerReference,
)
from apimachinery.names import (
    byte_length,
    exceeds,
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_label_value,
    is_path_segment_name,
    is_path_segment_prefix,
    is_qualified_name,
    mask_trailing_dash,
    regex_error,
)
from apimachinery.schema import GroupVersionKind, InvalidGroupVersion

ANNOTATIONS_MAX: Final = 256 * 1024
SUBRESOURCE_MAX: Final = 256
REASON_MAX: Final = 1024
MESSAGE_MAX: Final = 32 * 1024

FINALIZER_ORPHAN: Final = "orphan"
FINALIZER_FOREGROUND: Final = "foregroundDeletion"
FINALIZERS: Final = Path("metadata", "finalizers")
_STANDARD_FINALIZERS: Final = ("kubernetes", FINALIZER_ORPHAN, FINALIZER_FOREGROUND)

NameRule: TypeAlias = Callable[[str, bool], list[str]]
"""Checks a name, or the prefix of generated names if the flag is set; returns messages."""

_METADATA: Final = Path("metadata")
_BANNED_OWNERS: Final = frozenset({GroupVersionKind("", "v1", "Event")})
_CONDITION_STATUSES: Final = ("False", "True", "Unknown")
_LONGEST_MATCHED: Final = 32 * 1024
"""A longer reason is refused for its length: matching it would take too long."""
_REASON: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")


def dns_subdomain_name(name: str, prefix: bool) -> list[str]:
    """Check the name of an object of most kinds."""
    return is_dns1123_subdomain(mask_trailing_dash(name) if prefix else name)


def dns_label_name(name: str, prefix: bool) -> list[str]:
    """Check the name of a namespace, or a name that becomes part of a host name."""
    return is_dns1123_label(mask_trailing_dash(name) if prefix else name)


def dns1035_label_name(name: str, prefix: bool) -> list[str]:
    """Check the name of a service."""
    return is_dns1035_label(mask_trailing_dash(name) if prefix else name)


def path_segment_name(name: str, prefix: bool) -> list[str]:
    """Check the minimal rule for every name, which is a segment of a URL path."""
    return is_path_segment_prefix(name) if prefix else is_path_segment_name(name)


def validate_object_meta(
    meta: ObjectMeta,
    *,
    namespaced: bool,
    name_rule: NameRule = dns_subdomain_name,
    path: Path = _METADATA,
) -> FieldErrors:
    """Validate the metadata of a new object, after its name has been generated."""
    # The paths of fields are built only for errors, and empty fields are passed over: most objects
    # have few of them, and none with errors.
    if meta.generate_name:
        for error in name_rule(meta.generate_name, True):
            yield invalid(path.child("generateName"), meta.generate_name, error)
    if meta.name:
        for error in name_rule(meta.name, False):
            yield invalid(path.child("name"), meta.name, error)
    else:
        yield required(path.child("name"), "name or generateName is required")
    if meta.namespace or namespaced:
        yield from _validate_namespace(meta.namespace, namespaced, path.child("namespace"))
    if meta.generation < 0:
        yield from validate_nonnegative(meta.generation, path.child("generation"))
    yield from _validate_content(meta, path)
    if meta.finalizers:
        yield from validate_finalizers(meta.finalizers, path.child("finalizers"))
    if meta.managed_fields:
        yield from validate_managed_fields(meta.managed_fields, path.child("managedFields"))


def validate_object_meta_update(
    new: ObjectMeta, old: ObjectMeta, *, path: Path = _METADATA
) -> FieldErrors:
    """Validate the metadata of an updated object against the stored object.

    A server that allows updates without a resourceVersion fills it in before. As in Kubernetes,
    the names of finalizers are validated only on creation.
    """
    if old.deletion_timestamp is not None:
        yield from validate_no_new_finalizers(
            new.finalizers, old.finalizers, path.child("finalizers")
        )
    if not new.resource_version:
        rule = "must be specified for an update"
        yield invalid(path.child("resourceVersion"), new.resource_version, rule)
    if new.generation < old.generation:
        yield invalid(path.child("generation"), new.generation, "must not be decremented")
    for wire, value, stored in _immutable_fields(new, old):
        if value != stored:
            yield immutable(path.child(wire), value)
    yield from _validate_content(new, path)
    if new.managed_fields:
        yield from validate_managed_fields(new.managed_fields, path.child("managedFields"))


def _validate_content(meta: ObjectMeta, path: Path) -> FieldErrors:
    """Validate what clients may set in new objects and in stored ones."""
    if meta.labels:
        yield from validate_labels(meta.labels, path.child("labels"))
    if meta.annotations:
        yield from validate_annotations(meta.annotations, path.child("annotations"))
    if meta.owner_references:
        yield from validate_owner_references(meta.owner_references, path.child("ownerReferences"))


def validate_conditional_update(resource_version: str, *, path: Path = _METADATA) -> FieldErrors:
    """Require a resourceVersion, for kinds that do not allow unconditional updates."""
    if resource_version in ("", "0"):
        # Kubernetes reports the number that it parses a missing version as.
        yield invalid(path.child("resourceVersion"), 0, "must be specified for an update")


def validate_immutable(value: Any, stored: Any, path: Path) -> FieldErrors:
    if value != stored:
        yield immutable(path, value)


def validate_nonnegative(value: int, path: Path) -> FieldErrors:
    if value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def validate_labels(labels: Mapping[str, str], path: Path) -> FieldErrors:
    for key, value in labels.items():
        for error in is_qualified_name(key):
            yield invalid(path, key, error)
        for error in is_label_value(value):
            yield invalid(path, value, error)


def validate_label_name(name: str, path: Path) -> FieldErrors:
    for error in is_qualified_name(name):
        yield invalid(path, name, error)


def validate_annotations(annotations: Mapping[str, str], path: Path) -> FieldErrors:
    """Validate the keys, ignoring case, and the total size."""
    for key in annotations:
        for error in is_qualified_name(key.lower()):
            yield invalid(path, key, error)
    if exceeds(ANNOTATIONS_MAX, [*annotations, *annotations.values()]):
        yield too_long(path, ANNOTATIONS_MAX)


def validate_qualified_finalizers(finalizers: Sequence[str], path: Path) -> FieldErrors:
    """Validate finalizers by the stricter rule that most kinds of Kubernetes have."""
    for position, name in enumerate(finalizers):
        yield from validate_qualified_finalizer(name, path.index(position))


def validate_qualified_finalizer(name: str, path: Path) -> FieldErrors:
    """Validate that a finalizer without a domain is one of Kubernetes' own."""
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        rule = "name is neither a standard finalizer name nor is it fully qualified"
        yield invalid(path, name, rule)


def validate_owner_references(references: Sequence[OwnerReference], path: Path) -> FieldErrors:
    """Validate each reference, and that at most one owner is the controller."""
    controller = ""
    all_references = list(references)
    for position, reference in enumerate(references):
        yield from _validate_owner_reference(reference, path.index(position))
        if not reference.controller:
            continue
        name = f"{reference.kind}/{reference.name}"
        if controller:
            rule = (
                "Only one reference can have Controller set to true. "
                f'Found "true" in references for {controller} and {name}'
            )
            yield invalid(path, all_references, rule)
        else:
            controller = name


def validate_finalizers(finalizers: Sequence[str], path: Path) -> FieldErrors:
    """Validate the names, and that dependents are not both orphaned and deleted."""
    for finalizer in finalizers:
        for error in is_qualified_name(finalizer):
            yield invalid(path, finalizer, error)
    if FINALIZER_ORPHAN in finalizers and FINALIZER_FOREGROUND in finalizers:
        rule = f"finalizer {FINALIZER_ORPHAN} and {FINALIZER_FOREGROUND} cannot be both set"
        yield invalid(path, list(finalizers), rule)


def validate_no_new_finalizers(new: Sequence[str], old: Sequence[str], path: Path) -> FieldErrors:
    """Reject finalizers that are added to an object during its deletion."""
    if added := sorted(set(new) - set(old)):
        quoted = ", ".join(map(quote, added))
        yield forbidden(
            path,
            "no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{quoted}}}",
        )


def validate_managed_fields(entries: Sequence[ManagedFieldsEntry], path: Path) -> FieldErrors:
    for position, entry in enumerate(entries):
        yield from _validate_managed_fields_entry(entry, path, position)


def _validate_managed_fields_entry(
    entry: ManagedFieldsEntry, entries: Path, position: int
) -> FieldErrors:
    if entry.operation not in ("Apply", "Update"):
        path = entries.index(position).child("operation")
        yield invalid(path, entry.operation, "must be `Apply` or `Update`")
    if entry.fields_type not in ("", "FieldsV1"):
        path = entries.index(position).child("fieldsType")
        yield invalid(path, entry.fields_type, "must be `FieldsV1`")
    if not is_plain_field_manager(entry.manager):
        path = entries.index(position).child("manager")
        yield from validate_field_manager(entry.manager, path)
    if entry.subresource and byte_length(entry.subresource) > SUBRESOURCE_MAX:
        yield too_long(entries.index(position).child("subresource"), SUBRESOURCE_MAX)


def validate_label_selector(
    selector: LabelSelector | None, path: Path, *, allow_invalid_values: bool = False
) -> FieldErrors:
    """Validate a selector; *allow_invalid_values* is for kinds that stored invalid ones."""
    if selector is None:
        return
    yield from validate_labels(selector.match_labels, path.child("matchLabels"))
    for position, requirement in enumerate(selector.match_expressions):
        requirement_path = path.child("matchExpressions").index(position)
        yield from _validate_requirement(requirement, requirement_path)
        for index, value in enumerate(() if allow_invalid_values else requirement.values):
            for error in is_label_value(value):
                yield invalid(requirement_path.child("values").index(index), value, error)


def validate_conditions(conditions: Sequence[Condition], path: Path) -> FieldErrors:
    """Validate each condition, and that each type occurs once."""
    types = set()
    for position, condition in enumerate(conditions):
        condition_path = path.index(position)
        if condition.type in types:
            yield duplicate(condition_path, condition.type)
        types.add(condition.type)
        yield from validate_condition(condition, condition_path)


def validate_condition(condition: Condition, path: Path) -> FieldErrors:
    if condition.type:
        yield from validate_label_name(condition.type, path.child("type"))
    else:
        yield required(path.child("type"), "is required")
    if not condition.status:
        yield required(path.child("status"))
    elif condition.status not in _CONDITION_STATUSES:
        yield not_supported(path.child("status"), condition.status, _CONDITION_STATUSES)
    if condition.observed_generation < 0:
        rule = "must be greater than or equal to zero"
        yield invalid(path.child("observedGeneration"), condition.observed_generation, rule)
    if condition.last_transition_time == UNSET_TIME:
        yield required(path.child("lastTransitionTime"))
    yield from _validate_reason(condition.reason, path.child("reason"))
    if byte_length(condition.message) > MESSAGE_MAX:
        yield too_long(path.child("message"), MESSAGE_MAX)


def _validate_namespace(namespace: str, namespaced: bool, path: Path) -> FieldErrors:
    if not namespaced:
        if namespace:
            yield forbidden(path, "not allowed on this type")
    elif not namespace:
        yield required(path)
    else:
        for error in dns_label_name(namespace, False):
            yield invalid(path, namespace, error)


def _immutable_fields(new: ObjectMeta, old: ObjectMeta) -> tuple[tuple[str, Any, Any], ...]:
    return (
        ("name", new.name, old.name),
        ("namespace", new.namespace, old.namespace),
        ("uid", new.uid, old.uid),
        ("creationTimestamp", new.creation_timestamp, old.creation_timestamp),
        ("deletionTimestamp", new.deletion_timestamp, old.deletion_timestamp),
        (
            "deletionGracePeriodSeconds",
            new.deletion_grace_period_seconds,
            old.deletion_grace_period_seconds,
        ),
    )


def _validate_owner_reference(reference: OwnerReference, path: Path) -> FieldErrors:
    kind = _kind_of(reference)
    if reference.api_version and not kind.version:
        rule = "must be <group>/<version> or <version>"
        yield invalid(path.child("apiVersion"), reference.api_version, rule)
    for wire, value in (
        ("apiVersion", reference.api_version),
        ("kind", reference.kind),
        ("name", reference.name),
        ("uid", reference.uid),
    ):
        if not value:
            yield required(path.child(wire), "must not be empty")
    if kind in _BANNED_OWNERS:
        yield invalid(path, reference, f"{kind} is disallowed from being an owner")


def _kind_of(reference: OwnerReference) -> GroupVersionKind:
    try:
        return GroupVersionKind.from_api_version(reference.api_version, reference.kind)
    except InvalidGroupVersion:
        return GroupVersionKind("", "", reference.kind)


def _validate_requirement(requirement: LabelSelectorRequirement, path: Path) -> FieldErrors:
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                rule = "must be specified when `operator` is 'In' or 'NotIn'"
                yield required(path.child("values"), rule)
        case "Exists" | "DoesNotExist":
            if requirement.values:
                rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(path.child("values"), rule)
        case unknown:
            yield invalid(path.child("operator"), unknown, "not a valid selector operator")
    yield from validate_label_name(requirement.key, path.child("key"))


def _validate_reason(reason: str, path: Path) -> FieldErrors:
    if not reason:
        yield required(path)
        return
    if len(reason) <= _LONGEST_MATCHED and not _REASON.fullmatch(reason):
        rule = (
            "a condition reason must start with alphabetic character, optionally followed by a "
            "string of alphanumeric characters or '_,:', and must end with an alphanumeric "
            "character or '_'"
        )
        examples = "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"
        yield invalid(path, reason, regex_error(rule, _REASON, *examples))
    if byte_length(reason) > REASON_MAX:
        yield too_long(path, REASON_MAX)
