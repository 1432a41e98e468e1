"""The options of every verb as kinds of their own."""

import pytest

from apimachinery.meta.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    TableOptions,
    UpdateOptions,
    default_list_options,
)
from apimachinery.meta.types import Preconditions, TypeMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.selectors import InvalidSelector

NUMBERS: dict[type[TypeMeta], dict[str, int]] = {
    ListOptions: {
        "labelSelector": 1,
        "fieldSelector": 2,
        "watch": 3,
        "allowWatchBookmarks": 9,
        "resourceVersion": 4,
        "resourceVersionMatch": 10,
        "timeoutSeconds": 5,
        "limit": 7,
        "continue": 8,
        "sendInitialEvents": 11,
    },
    GetOptions: {"resourceVersion": 1},
    CreateOptions: {"dryRun": 1, "fieldManager": 3, "fieldValidation": 4},
    UpdateOptions: {"dryRun": 1, "fieldManager": 2, "fieldValidation": 3},
    PatchOptions: {"dryRun": 1, "force": 2, "fieldManager": 3, "fieldValidation": 4},
    DeleteOptions: {
        "gracePeriodSeconds": 1,
        "preconditions": 2,
        "orphanDependents": 3,
        "propagationPolicy": 4,
        "dryRun": 5,
        "ignoreStoreReadErrorWithClusterBreakingPotential": 6,
    },
    TableOptions: {"includeObject": 1},
}


@pytest.mark.parametrize("kind", NUMBERS, ids=lambda kind: kind.__name__)
def test_fields_have_the_names_and_protobuf_numbers_of_kubernetes(kind: type[TypeMeta]) -> None:
    own = [field for field in fields_of(kind) if field.wire not in ("kind", "apiVersion")]

    assert {field.wire: field.markers.proto for field in own} == NUMBERS[kind]


def test_unset_options_are_an_empty_document() -> None:
    for kind in NUMBERS:
        assert kind().model_dump(mode="json") == {}


def test_delete_options_can_be_read_from_a_body() -> None:
    body = '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"a"},"dryRun":["All"]}'

    options = DeleteOptions.model_validate_json(body)

    assert options.preconditions == Preconditions(uid="a")
    assert options.dry_run == ["All"]
    assert options.propagation_policy is None


def test_a_selection_matches_by_labels_and_fields() -> None:
    options = ListOptions(label_selector="app in (web)", field_selector="metadata.name!=a")

    selection = options.selection()

    assert selection.labels.matches({"app": "web"})
    assert not selection.labels.matches({"app": "db"})
    assert selection.fields.matches({"metadata.name": "b"})
    assert not selection.fields.matches({"metadata.name": "a"})
    assert not selection.empty


def test_options_without_selectors_select_everything() -> None:
    assert ListOptions().selection().empty


@pytest.mark.parametrize(
    "options", [ListOptions(label_selector="="), ListOptions(field_selector="a")]
)
def test_a_selection_of_bad_text_is_refused(options: ListOptions) -> None:
    with pytest.raises(InvalidSelector):
        options.selection()


@pytest.mark.parametrize("resource_version", ["", "0"])
def test_a_watch_from_anywhere_begins_with_what_exists(resource_version: str) -> None:
    options = ListOptions(watch=True, resource_version=resource_version)

    default_list_options(options)

    assert options.send_initial_events is True
    assert options.resource_version_match == "NotOlderThan"


@pytest.mark.parametrize(
    "options",
    [
        ListOptions(),
        ListOptions(resource_version="0"),
        ListOptions(watch=True, resource_version="7"),
        ListOptions(watch=True, send_initial_events=False),
        ListOptions(watch=True, resource_version_match="NotOlderThan"),
    ],
)
def test_other_options_have_no_defaults(options: ListOptions) -> None:
    before = options.deep_copy()

    default_list_options(options)

    assert options == before
