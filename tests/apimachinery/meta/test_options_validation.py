"""What makes options wrong, word by word."""

import pytest

from apimachinery.errors import BadRequest, Invalid
from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.meta.options import (
    CreateOptions,
    DeleteOptions,
    ListOptions,
    PatchOptions,
    TableOptions,
    UpdateOptions,
)
from apimachinery.meta.options_validation import (
    check,
    check_table_options,
    validate_create_options,
    validate_delete_options,
    validate_field_manager,
    validate_list_options,
    validate_patch_options,
    validate_table_options,
    validate_update_options,
)
from apimachinery.meta.types import Preconditions

UNLESS_VERSION = "resourceVersionMatch is forbidden unless resourceVersion is provided"
WITH_CONTINUE = "resourceVersionMatch is forbidden when continue is provided"
EXACT_ZERO = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
NOT_OLDER = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
UNLESS_EVENTS = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"


def messages(errors: FieldErrors) -> list[str]:
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    "options",
    [
        ListOptions(),
        ListOptions(limit=-1, continue_="t"),
        ListOptions(resource_version="5", resource_version_match="Exact"),
        ListOptions(resource_version="0", resource_version_match="NotOlderThan"),
        ListOptions(watch=True, resource_version="5"),
        ListOptions(watch=True, send_initial_events=True, resource_version_match="NotOlderThan"),
        ListOptions(watch=True, send_initial_events=False, resource_version_match="NotOlderThan"),
    ],
)
def test_good_list_options_have_no_errors(options: ListOptions) -> None:
    assert messages(validate_list_options(options)) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ListOptions(resource_version_match="Exact"),
            [f"resourceVersionMatch: Forbidden: {UNLESS_VERSION}"],
        ),
        (
            ListOptions(resource_version="5", resource_version_match="Exact", continue_="t"),
            [f"resourceVersionMatch: Forbidden: {WITH_CONTINUE}"],
        ),
        (
            ListOptions(resource_version="0", resource_version_match="Exact"),
            [f"resourceVersionMatch: Forbidden: {EXACT_ZERO}"],
        ),
        (
            ListOptions(resource_version="5", resource_version_match="foo"),
            [
                'resourceVersionMatch: Unsupported value: "foo": '
                'supported values: "Exact", "NotOlderThan", ""'
            ],
        ),
        (
            ListOptions(send_initial_events=False),
            ["sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
        ),
        (
            ListOptions(watch=True, send_initial_events=True),
            [f"resourceVersionMatch: Forbidden: {NOT_OLDER}"],
        ),
        (
            ListOptions(watch=True, resource_version_match="NotOlderThan"),
            [f"resourceVersionMatch: Forbidden: {UNLESS_EVENTS}"],
        ),
        (
            ListOptions(watch=True, send_initial_events=True, resource_version_match="Exact"),
            [
                f"resourceVersionMatch: Forbidden: {NOT_OLDER}",
                'resourceVersionMatch: Unsupported value: "Exact": '
                'supported values: "NotOlderThan"',
            ],
        ),
        (
            ListOptions(
                watch=True,
                send_initial_events=True,
                resource_version_match="NotOlderThan",
                continue_="t",
            ),
            [f"resourceVersionMatch: Forbidden: {WITH_CONTINUE}"],
        ),
    ],
)
def test_bad_list_options_are_told(options: ListOptions, expected: list[str]) -> None:
    assert messages(validate_list_options(options)) == expected


def test_create_options_report_everything_at_once() -> None:
    options = CreateOptions(dry_run=["All", "x"], field_manager="a\n", field_validation="None")

    assert messages(validate_create_options(options)) == [
        'fieldManager: Invalid value: "a\\n": invalid character U+000A (at position 1)',
        'dryRun: Unsupported value: ["All","x"]: supported values: "All"',
        'fieldValidation: Unsupported value: "None": '
        'supported values: "", "Ignore", "Strict", "Warn"',
    ]


@pytest.mark.parametrize("directive", ["", "Ignore", "Warn", "Strict"])
def test_good_update_options_have_no_errors(directive: str) -> None:
    options = UpdateOptions(
        dry_run=["All", "All"], field_manager="kubectl edit", field_validation=directive
    )

    assert messages(validate_update_options(options)) == []


def test_only_an_apply_can_be_forced() -> None:
    options = PatchOptions(force=False, field_manager="m")

    assert messages(validate_patch_options(options, apply=True)) == []
    assert messages(validate_patch_options(options, apply=False)) == [
        "force: Forbidden: may not be specified for non-apply patch"
    ]


def test_an_apply_must_name_its_manager() -> None:
    options = PatchOptions()

    assert messages(validate_patch_options(options, apply=False)) == []
    assert messages(validate_patch_options(options, apply=True)) == [
        "fieldManager: Required value: is required for apply patch"
    ]


def test_a_field_manager_is_limited_in_bytes() -> None:
    path = Path("fieldManager")

    assert messages(validate_field_manager("é" * 64, path)) == []
    assert messages(validate_field_manager("é" * 65, path)) == [
        "fieldManager: Too long: may not be more than 128 bytes"
    ]
    assert messages(validate_field_manager("a" * 128, path)) == []
    assert messages(validate_field_manager("a" * 129, path)) == [
        "fieldManager: Too long: may not be more than 128 bytes"
    ]


def test_unprintable_characters_are_told_by_their_place_in_bytes() -> None:
    assert messages(validate_field_manager("é\x01\u200b", Path("m"))) == [
        'm: Invalid value: "é\\x01\\u200b": invalid character U+0001 (at position 2)',
        'm: Invalid value: "é\\x01\\u200b": invalid character U+200B (at position 3)',
    ]


@pytest.mark.parametrize("policy", [None, "Foreground", "Background", "Orphan"])
def test_known_propagation_policies_are_allowed(policy: str | None) -> None:
    options = DeleteOptions(propagation_policy=policy, grace_period_seconds=-1)

    assert messages(validate_delete_options(options)) == []


@pytest.mark.parametrize("policy", ["", "foreground"])
def test_unknown_propagation_policies_are_told(policy: str) -> None:
    options = DeleteOptions(propagation_policy=policy)

    assert messages(validate_delete_options(options)) == [
        f'propagationPolicy: Unsupported value: "{policy}": '
        'supported values: "Foreground", "Background", "Orphan", "nil"'
    ]


def test_dependents_have_one_fate() -> None:
    options = DeleteOptions(orphan_dependents=False, propagation_policy="Orphan")

    assert messages(validate_delete_options(options)) == [
        'propagationPolicy: Invalid value: "Orphan": '
        "orphanDependents and deletionPropagation cannot be both set"
    ]


def test_a_deletion_of_the_unreadable_stands_alone() -> None:
    options = DeleteOptions(
        ignore_store_read_error_with_cluster_breaking_potential=True,
        dry_run=["All"],
        orphan_dependents=True,
        grace_period_seconds=0,
        preconditions=Preconditions(),
    )

    path = "ignoreStoreReadErrorWithClusterBreakingPotential"
    assert messages(validate_delete_options(options)) == [
        f"{path}: Invalid value: true: cannot be set together with .{name}"
        for name in ("dryRun", "orphanDependents", "gracePeriodSeconds", "preconditions")
    ]
    options.ignore_store_read_error_with_cluster_breaking_potential = False
    assert messages(validate_delete_options(options)) == []


@pytest.mark.parametrize("include", ["", "None", "Metadata", "Object"])
def test_known_table_options_are_allowed(include: str) -> None:
    options = TableOptions(include_object=include)

    check_table_options(options)

    assert messages(validate_table_options(options)) == []


def test_bad_table_options_are_a_bad_request() -> None:
    with pytest.raises(BadRequest) as caught:
        check_table_options(TableOptions(include_object="all"))

    assert str(caught.value) == (
        'Unable to convert to Table as requested: includeObject: Invalid value: "all": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )


def test_errors_are_reported_as_those_of_a_kind_of_the_meta_group() -> None:
    options = CreateOptions(dry_run=["x"])

    with pytest.raises(Invalid) as caught:
        check(options, validate_create_options(options))

    details = caught.value.status.details
    assert str(caught.value) == (
        'CreateOptions.meta.k8s.io "" is invalid: '
        'dryRun: Unsupported value: ["x"]: supported values: "All"'
    )
    assert details is not None
    assert (details.group, details.kind, details.name) == ("meta.k8s.io", "CreateOptions", "")
    assert details.causes[0].reason == "FieldValueNotSupported"
    assert details.causes[0].field == "dryRun"


def test_options_without_errors_pass() -> None:
    options = ListOptions()

    check(options, validate_list_options(options))
