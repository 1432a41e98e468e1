"""Validate request options, with Kubernetes' messages.

Each `validate_*` function yields all errors of one kind of options; `check` raises them as Invalid.
Separate from the options because only servers validate them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from apimachinery.errors import BadRequest, Invalid
from apimachinery.fieldpath import (
    FieldError,
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
    to_aggregate_message,
    too_long,
)
from apimachinery.meta.options import (
    BACKGROUND,
    DRY_RUN_ALL,
    EXACT,
    FOREGROUND,
    NOT_OLDER_THAN,
    ORPHAN,
    CreateOptions,
    DeleteOptions,
    ListOptions,
    PatchOptions,
    TableOptions,
    UpdateOptions,
)
from apimachinery.meta.types import TypeMeta
from apimachinery.names import byte_length
from apimachinery.schema import GroupKind

GROUP: Final = "meta.k8s.io"
FIELD_MANAGER_MAX: Final = 128
FIELD_VALIDATIONS: Final = ("", "Ignore", "Strict", "Warn")

_MATCH: Final = Path("resourceVersionMatch")
_INITIAL_EVENTS: Final = Path("sendInitialEvents")
_POLICY: Final = Path("propagationPolicy")
_IGNORE: Final = Path("ignoreStoreReadErrorWithClusterBreakingPotential")


def check(options: TypeMeta, errors: Iterable[FieldError]) -> None:
    """Raise Invalid, with the kind of the options, if there are any errors."""
    if field_errors := list(errors):
        raise Invalid.of(GroupKind(GROUP, type(options).__name__), "", field_errors)


def check_table_options(options: TableOptions) -> None:
    """Raise BadRequest, which Kubernetes uses here instead of Invalid, if there are any errors."""
    if errors := list(validate_table_options(options)):
        message = to_aggregate_message(errors)
        raise BadRequest(f"Unable to convert to Table as requested: {message}")


def validate_list_options(options: ListOptions) -> FieldErrors:
    """Validate the options of a list or, if *watch* is set, of a watch."""
    if options.watch:
        yield from _validate_watch(options)
        return
    if options.resource_version_match:
        yield from _validate_list_match(options)
    if options.send_initial_events is not None:
        yield forbidden(_INITIAL_EVENTS, "sendInitialEvents is forbidden for list")


def validate_create_options(options: CreateOptions) -> FieldErrors:
    return _validate_write(options)


def validate_update_options(options: UpdateOptions) -> FieldErrors:
    return _validate_write(options)


def validate_patch_options(options: PatchOptions, *, apply: bool) -> FieldErrors:
    """Validate the options of a patch; *apply* is true for a server-side apply."""
    if not apply and options.force is not None:
        yield forbidden(Path("force"), "may not be specified for non-apply patch")
    if apply and not options.field_manager:
        yield required(Path("fieldManager"), "is required for apply patch")
    yield from _validate_write(options)


def validate_delete_options(options: DeleteOptions) -> FieldErrors:
    policy = options.propagation_policy
    if options.orphan_dependents is not None and policy is not None:
        rule = "orphanDependents and deletionPropagation cannot be both set"
        yield invalid(_POLICY, policy, rule)
    policies = FOREGROUND, BACKGROUND, ORPHAN
    if policy is not None and policy not in policies:
        yield not_supported(_POLICY, policy, (*policies, "nil"))
    yield from validate_dry_run(options.dry_run, Path("dryRun"))
    if options.ignore_store_read_error_with_cluster_breaking_potential:
        yield from _validate_ignoring_read_errors(options)


def validate_table_options(options: TableOptions) -> FieldErrors:
    if options.include_object not in ("", "Metadata", "Object", "None"):
        rule = "must be 'Metadata', 'Object', 'None', or empty"
        yield invalid(Path("includeObject"), options.include_object, rule)


def validate_field_manager(manager: str, path: Path) -> FieldErrors:
    """Validate the name of a field manager, which may be empty."""
    if is_plain_field_manager(manager):
        return
    if byte_length(manager) > FIELD_MANAGER_MAX:
        yield too_long(path, FIELD_MANAGER_MAX)
    position = 0
    for character in manager:
        if not character.isprintable():
            rule = f"invalid character U+{ord(character):04X} (at position {position})"
            yield invalid(path, manager, rule)
        position += byte_length(character)


def is_plain_field_manager(manager: str) -> bool:
    """Return whether a name is valid and plain ASCII, as nearly all are."""
    return manager.isascii() and manager.isprintable() and len(manager) <= FIELD_MANAGER_MAX


def validate_dry_run(dry_run: Sequence[str], path: Path) -> FieldErrors:
    if any(value != DRY_RUN_ALL for value in dry_run):
        yield not_supported(path, list(dry_run), (DRY_RUN_ALL,))


def validate_field_validation(directive: str, path: Path) -> FieldErrors:
    if directive not in FIELD_VALIDATIONS:
        yield not_supported(path, directive, FIELD_VALIDATIONS)


def _validate_list_match(options: ListOptions) -> FieldErrors:
    match = options.resource_version_match
    if not options.resource_version:
        rule = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        yield forbidden(_MATCH, rule)
    if options.continue_:
        yield forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided")
    if match not in (EXACT, NOT_OLDER_THAN):
        yield not_supported(_MATCH, match, (EXACT, NOT_OLDER_THAN, ""))
    if match == EXACT and options.resource_version == "0":
        rule = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        yield forbidden(_MATCH, rule)


def _validate_watch(options: ListOptions) -> FieldErrors:
    match = options.resource_version_match
    if options.send_initial_events is not None and match != NOT_OLDER_THAN:
        rule = f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}"
        yield forbidden(_MATCH, rule)
    if not match:
        return
    if options.send_initial_events is None:
        rule = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        yield forbidden(_MATCH, rule)
    if match != NOT_OLDER_THAN:
        yield not_supported(_MATCH, match, (NOT_OLDER_THAN,))
    if options.continue_:
        yield forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided")


def _validate_write(options: CreateOptions | UpdateOptions | PatchOptions) -> FieldErrors:
    yield from validate_field_manager(options.field_manager, Path("fieldManager"))
    yield from validate_dry_run(options.dry_run, Path("dryRun"))
    yield from validate_field_validation(options.field_validation, Path("fieldValidation"))


def _validate_ignoring_read_errors(options: DeleteOptions) -> FieldErrors:
    """Reject all other options: none can apply to an object that cannot be decoded."""
    incompatible = {
        "dryRun": bool(options.dry_run),
        "propagationPolicy": options.propagation_policy is not None,
        "orphanDependents": options.orphan_dependents is not None,
        "gracePeriodSeconds": options.grace_period_seconds is not None,
        "preconditions": options.preconditions is not None,
    }
    for name, is_set in incompatible.items():
        if is_set:
            yield invalid(_IGNORE, True, f"cannot be set together with .{name}")
