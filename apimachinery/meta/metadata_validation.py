"""What makes the metadata of an object wrong, and the few other types that every API shares.

A group's own validation calls these for the parts that are not its own. All are generators of
field errors in Kubernetes' words. What a *name* may look like depends on the kind, so it is
a function that the caller chooses among the `NameRule`s here, or brings along.
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
from apimachinery.meta.options_validation import validate_field_manager
from apimachinery.meta.types import (
    Condition,
    LabelSelector,
    LabelSelectorRequirement,
    ManagedFieldsEntry,
    ObjectMeta,
    OwnerReference,
)
from apimachinery.names import (
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

NameRule: TypeAlias = Callable[[str, bool], list[str]]
"""From a name, and whether it is only the prefix of one, to what is wrong with it."""

_METADATA: Final = Path("metadata")
_BANNED_OWNERS: Final = frozenset({GroupVersionKind("", "v1", "Event")})
_CONDITION_STATUSES: Final = ("False", "True", "Unknown")
_REASON: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")


def dns_subdomain_name(name: str, prefix: bool) -> list[str]:
    """The rule for the names of most kinds."""
    return is_dns1123_subdomain(mask_trailing_dash(name) if prefix else name)


def dns_label_name(name: str, prefix: bool) -> list[str]:
    """The rule for namespaces, and for names that become part of a host name."""
    return is_dns1123_label(mask_trailing_dash(name) if prefix else name)


def dns1035_label_name(name: str, prefix: bool) -> list[str]:
    """The rule for services."""
    return is_dns1035_label(mask_trailing_dash(name) if prefix else name)


def path_segment_name(name: str, prefix: bool) -> list[str]:
    """The rule no name may break, because every name stands in a URL."""
    return is_path_segment_prefix(name) if prefix else is_path_segment_name(name)


def validate_object_meta(
    meta: ObjectMeta,
    *,
    namespaced: bool,
    name_rule: NameRule = dns_subdomain_name,
    path: Path = _METADATA,
) -> FieldErrors:
    """Check the metadata of a new object, whose name has been generated if it was to be."""
    for error in name_rule(meta.generate_name, True) if meta.generate_name else ():
        yield invalid(path.child("generateName"), meta.generate_name, error)
    if not meta.name:
        yield required(path.child("name"), "name or generateName is required")
    for error in name_rule(meta.name, False) if meta.name else ():
        yield invalid(path.child("name"), meta.name, error)
    yield from _validate_namespace(meta.namespace, namespaced, path.child("namespace"))
    yield from validate_nonnegative(meta.generation, path.child("generation"))
    yield from validate_labels(meta.labels, path.child("labels"))
    yield from validate_annotations(meta.annotations, path.child("annotations"))
    yield from validate_owner_references(meta.owner_references, path.child("ownerReferences"))
    yield from validate_finalizers(meta.finalizers, path.child("finalizers"))
    yield from validate_managed_fields(meta.managed_fields, path.child("managedFields"))


def validate_object_meta_update(
    new: ObjectMeta, old: ObjectMeta, *, path: Path = _METADATA
) -> FieldErrors:
    """Check the metadata of an object against what is stored.

    A server that allows updates without a resourceVersion fills it in before; the names of
    finalizers were checked on creation and, as in Kubernetes, are not checked again.
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
    for wire, value, stored in _fixed_fields(new, old):
        yield from validate_immutable(value, stored, path.child(wire))
    yield from validate_labels(new.labels, path.child("labels"))
    yield from validate_annotations(new.annotations, path.child("annotations"))
    yield from validate_owner_references(new.owner_references, path.child("ownerReferences"))
    yield from validate_managed_fields(new.managed_fields, path.child("managedFields"))


def validate_conditional_update(resource_version: str, *, path: Path = _METADATA) -> FieldErrors:
    """Check that an update names the version it replaces, for kinds that insist on it."""
    if resource_version in ("", "0"):
        # The wire shows the number a missing version is read as.
        yield invalid(path.child("resourceVersion"), 0, "must be specified for an update")


def validate_immutable(value: Any, stored: Any, path: Path) -> FieldErrors:
    if value != stored:
        yield immutable(path, value)


def validate_nonnegative(value: int, path: Path) -> FieldErrors:
    if value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def validate_labels(labels: Mapping[str, str], path: Path) -> FieldErrors:
    for key, value in labels.items():
        yield from validate_label_name(key, path)
        for error in is_label_value(value):
            yield invalid(path, value, error)


def validate_label_name(name: str, path: Path) -> FieldErrors:
    for error in is_qualified_name(name):
        yield invalid(path, name, error)


def validate_annotations(annotations: Mapping[str, str], path: Path) -> FieldErrors:
    """Check the keys, in which case does not matter, and the size of all together."""
    for key in annotations:
        for error in is_qualified_name(key.lower()):
            yield invalid(path, key, error)
    if sum(_size(key) + _size(value) for key, value in annotations.items()) > ANNOTATIONS_MAX:
        yield too_long(path, ANNOTATIONS_MAX)


def validate_owner_references(references: Sequence[OwnerReference], path: Path) -> FieldErrors:
    """Check each reference, and that at most one owner is the controller."""
    controller = ""
    for reference in references:
        yield from _validate_owner_reference(reference, path)
        if not reference.controller:
            continue
        name = f"{reference.kind}/{reference.name}"
        if controller:
            rule = (
                "Only one reference can have Controller set to true. "
                f'Found "true" in references for {controller} and {name}'
            )
            yield invalid(path, list(references), rule)
        else:
            controller = name


def validate_finalizers(finalizers: Sequence[str], path: Path) -> FieldErrors:
    """Check the names, and that the dependents have one fate only."""
    for finalizer in finalizers:
        for error in is_qualified_name(finalizer):
            yield invalid(path, finalizer, error)
    if FINALIZER_ORPHAN in finalizers and FINALIZER_FOREGROUND in finalizers:
        rule = f"finalizer {FINALIZER_ORPHAN} and {FINALIZER_FOREGROUND} cannot be both set"
        yield invalid(path, list(finalizers), rule)


def validate_no_new_finalizers(new: Sequence[str], old: Sequence[str], path: Path) -> FieldErrors:
    """Check that an object on its way out is not held up by anybody new."""
    if added := sorted(set(new) - set(old)):
        shown = ", ".join(map(quote, added))
        yield forbidden(
            path,
            "no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{shown}}}",
        )


def validate_managed_fields(entries: Sequence[ManagedFieldsEntry], path: Path) -> FieldErrors:
    for position, entry in enumerate(entries):
        here = path.index(position)
        if entry.operation not in ("Apply", "Update"):
            yield invalid(here.child("operation"), entry.operation, "must be `Apply` or `Update`")
        if entry.fields_type not in ("", "FieldsV1"):
            yield invalid(here.child("fieldsType"), entry.fields_type, "must be `FieldsV1`")
        yield from validate_field_manager(entry.manager, here.child("manager"))
        if _size(entry.subresource) > SUBRESOURCE_MAX:
            yield too_long(here.child("subresource"), SUBRESOURCE_MAX)


def validate_label_selector(
    selector: LabelSelector | None, path: Path, *, allow_invalid_values: bool = False
) -> FieldErrors:
    """Check a selector; *allow_invalid_values* is for kinds that have stored bad ones."""
    if selector is None:
        return
    yield from validate_labels(selector.match_labels, path.child("matchLabels"))
    for position, requirement in enumerate(selector.match_expressions):
        here = path.child("matchExpressions").index(position)
        yield from _validate_requirement(requirement, here)
        for index, value in enumerate(() if allow_invalid_values else requirement.values):
            for error in is_label_value(value):
                yield invalid(here.child("values").index(index), value, error)


def validate_conditions(conditions: Sequence[Condition], path: Path) -> FieldErrors:
    """Check each condition, and that each type is there once."""
    types = set()
    for position, condition in enumerate(conditions):
        here = path.index(position)
        if condition.type in types:
            yield duplicate(here.child("type"), condition.type)
        types.add(condition.type)
        yield from validate_condition(condition, here)


def validate_condition(condition: Condition, path: Path) -> FieldErrors:
    yield from validate_label_name(condition.type, path.child("type"))
    if condition.status not in _CONDITION_STATUSES:
        yield not_supported(path.child("status"), condition.status, _CONDITION_STATUSES)
    if condition.observed_generation < 0:
        rule = "must be greater than or equal to zero"
        yield invalid(path.child("observedGeneration"), condition.observed_generation, rule)
    if condition.last_transition_time == UNSET_TIME:
        yield required(path.child("lastTransitionTime"), "must be set")
    yield from _validate_reason(condition.reason, path.child("reason"))
    if _size(condition.message) > MESSAGE_MAX:
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


def _fixed_fields(new: ObjectMeta, old: ObjectMeta) -> tuple[tuple[str, Any, Any], ...]:
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
    if not kind.version:
        yield invalid(path.child("apiVersion"), reference.api_version, "version must not be empty")
    for wire, value in (("kind", reference.kind), ("name", reference.name), ("uid", reference.uid)):
        if not value:
            yield invalid(path.child(wire), value, "must not be empty")
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
        yield required(path, "must be set")
        return
    if not _REASON.fullmatch(reason):
        rule = (
            "a condition reason must start with alphabetic character, optionally followed by a "
            "string of alphanumeric characters or '_,:', and must end with an alphanumeric "
            "character or '_'"
        )
        examples = "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"
        yield invalid(path, reason, regex_error(rule, _REASON, *examples))
    if _size(reason) > REASON_MAX:
        yield too_long(path, REASON_MAX)


def _size(text: str) -> int:
    """Bytes, which is what every limit counts."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
