"""What makes metadata, label selectors and conditions wrong, word by word."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.meta.conditions import condition
from apimachinery.meta.metadata_validation import (
    NameRule,
    dns1035_label_name,
    dns_label_name,
    dns_subdomain_name,
    path_segment_name,
    validate_annotations,
    validate_conditional_update,
    validate_conditions,
    validate_finalizers,
    validate_label_selector,
    validate_labels,
    validate_managed_fields,
    validate_object_meta,
    validate_object_meta_update,
    validate_owner_references,
)
from apimachinery.meta.types import (
    Condition,
    LabelSelector,
    LabelSelectorRequirement,
    ManagedFieldsEntry,
    ObjectMeta,
    OwnerReference,
)

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
    "regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def meta(**changes: Any) -> ObjectMeta:
    return ObjectMeta(**{"name": "a", "namespace": "ns", "resource_version": "7", **changes})


def reference(**changes: Any) -> OwnerReference:
    return OwnerReference(**{"api_version": "v1", "kind": "A", "name": "a", "uid": "u", **changes})


def created(given_meta: ObjectMeta, namespaced: bool = True) -> list[str]:
    return messages(validate_object_meta(given_meta, namespaced=namespaced))


def updated(new: ObjectMeta, old: ObjectMeta) -> list[str]:
    return messages(validate_object_meta_update(new, old))


def messages(errors: FieldErrors) -> list[str]:
    return [str(error) for error in errors]


def test_good_metadata_has_no_errors() -> None:
    good = meta(
        generate_name="a-",
        labels={"example.io/app": "web", "tier": ""},
        annotations={"Example.IO/Note": "any text\n"},
        finalizers=["example.io/wait", "orphan"],
        owner_references=[reference(controller=True), reference(uid="v", controller=False)],
        managed_fields=[ManagedFieldsEntry(manager="m", operation="Apply", fields_type="FieldsV1")],
    )

    assert created(good) == []
    assert updated(good, good) == []


def test_a_name_is_required() -> None:
    assert created(meta(name="")) == [
        "metadata.name: Required value: name or generateName is required"
    ]


def test_names_are_subdomains_unless_the_kind_says_otherwise() -> None:
    assert created(meta(name="A_1")) == [f'metadata.name: Invalid value: "A_1": {SUBDOMAIN}']


def test_the_prefix_of_a_generated_name_may_end_in_a_dash() -> None:
    assert created(meta(generate_name="job-")) == []
    assert created(meta(generate_name="Job-")) == [
        f'metadata.generateName: Invalid value: "Job-": {SUBDOMAIN}'
    ]


@pytest.mark.parametrize(
    ("rule", "name", "is_good"),
    [
        (dns_subdomain_name, "a.b", True),
        (dns_label_name, "a.b", False),
        (dns_label_name, "1a", True),
        (dns1035_label_name, "1a", False),
        (dns1035_label_name, "a1", True),
        (path_segment_name, "A_:b", True),
        (path_segment_name, "..", False),
        (path_segment_name, "a/b", False),
        (path_segment_name, "a%b", False),
    ],
)
def test_each_kind_chooses_its_rule_for_names(rule: NameRule, name: str, is_good: bool) -> None:
    errors = messages(validate_object_meta(meta(name=name), namespaced=True, name_rule=rule))

    assert (errors == []) is is_good


@pytest.mark.parametrize(
    ("rule", "prefix"),
    [
        (dns_subdomain_name, "a.b-"),
        (dns_label_name, "a-"),
        (dns1035_label_name, "a-"),
        (path_segment_name, ".."),
    ],
)
def test_a_prefix_is_judged_more_mildly_than_a_name(rule: NameRule, prefix: str) -> None:
    assert rule(prefix, True) == []
    assert rule(prefix, False) != []


def test_the_path_of_a_nested_template_is_the_caller_s() -> None:
    errors = validate_object_meta(
        meta(name=""), namespaced=True, path=Path("spec", "template", "metadata")
    )

    assert messages(errors) == [
        "spec.template.metadata.name: Required value: name or generateName is required"
    ]


def test_namespaces_go_by_the_scope_of_the_kind() -> None:
    assert created(meta(namespace="")) == ["metadata.namespace: Required value"]
    assert created(meta(namespace=""), namespaced=False) == []
    assert created(meta(), namespaced=False) == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]
    assert created(meta(namespace="a.b")) == [
        'metadata.namespace: Invalid value: "a.b": must not contain dots'
    ]


def test_a_generation_is_not_negative() -> None:
    assert created(meta(generation=-1)) == [
        "metadata.generation: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_labels_are_told_by_key_and_by_value() -> None:
    errors = messages(validate_labels({"a/b/c": "ok", "app": "-"}, Path("labels")))

    assert errors[0].startswith('labels: Invalid value: "a/b/c": a valid label key must consist')
    assert errors[1].startswith('labels: Invalid value: "-": a valid label must be an empty string')
    assert len(errors) == 2


def test_annotations_are_checked_by_key_whatever_its_case() -> None:
    errors = messages(validate_annotations({"Example.COM/Key": "", "a b": ""}, Path("a")))

    assert len(errors) == 1
    assert errors[0].startswith('a: Invalid value: "a b": name part must consist of')


def test_annotations_are_limited_in_all_in_bytes() -> None:
    fits = {"a": "é" * (128 * 1024 - 1), "b": ""}

    assert messages(validate_annotations(fits, Path("annotations"))) == []
    assert messages(validate_annotations({**fits, "c": ""}, Path("annotations"))) == [
        "annotations: Too long: may not be more than 262144 bytes"
    ]


def test_owner_references_must_be_complete() -> None:
    errors = validate_owner_references([OwnerReference()], Path("ownerReferences"))

    assert messages(errors) == [
        f"ownerReferences[0].{name}: Required value: must not be empty"
        for name in ("apiVersion", "kind", "name", "uid")
    ]


@pytest.mark.parametrize("api_version", ["apps/", "a/b/c"])
def test_the_version_of_an_owner_must_be_one(api_version: str) -> None:
    errors = validate_owner_references([reference(api_version=api_version)], Path("o"))

    assert messages(errors) == [
        f'o[0].apiVersion: Invalid value: "{api_version}": must be <group>/<version> or <version>'
    ]


def test_an_event_owns_nothing() -> None:
    errors = validate_owner_references([reference(kind="Event")], Path("o"))

    assert messages(errors) == [
        'o[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"a","uid":"u"}: '
        "/v1, Kind=Event is disallowed from being an owner"
    ]


def test_an_event_of_another_group_may_own() -> None:
    other = reference(kind="Event", api_version="events.k8s.io/v1")

    assert messages(validate_owner_references([other], Path("o"))) == []


def test_only_one_owner_is_the_controller() -> None:
    owners = [reference(name=name, uid=name, controller=True) for name in "ab"]

    (error,) = messages(validate_owner_references(owners, Path("o")))

    assert error.startswith('o: Invalid value: [{"apiVersion":"v1","kind":"A","name":"a",')
    assert error.endswith(
        "]: Only one reference can have Controller set to true. "
        'Found "true" in references for A/a and A/b'
    )


def test_finalizers_are_qualified_names_and_do_not_contradict_each_other() -> None:
    errors = messages(
        validate_finalizers(["orphan", "a b", "foregroundDeletion"], Path("finalizers"))
    )

    assert errors[0].startswith('finalizers: Invalid value: "a b": name part must consist of')
    assert errors[1:] == [
        'finalizers: Invalid value: ["orphan","a b","foregroundDeletion"]: '
        "finalizer orphan and foregroundDeletion cannot be both set"
    ]


def test_managed_fields_are_checked_entry_by_entry() -> None:
    good = ManagedFieldsEntry(operation="Update")
    bad = ManagedFieldsEntry(
        operation="Patch", fields_type="V2", manager="m" * 129, subresource="s" * 257
    )

    assert messages(validate_managed_fields([good, bad], Path("managedFields"))) == [
        'managedFields[1].operation: Invalid value: "Patch": must be `Apply` or `Update`',
        'managedFields[1].fieldsType: Invalid value: "V2": must be `FieldsV1`',
        "managedFields[1].manager: Too long: may not be more than 128 bytes",
        "managedFields[1].subresource: Too long: may not be more than 256 bytes",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "b"}, 'metadata.name: Invalid value: "b": field is immutable'),
        ({"namespace": "b"}, 'metadata.namespace: Invalid value: "b": field is immutable'),
        ({"uid": "b"}, 'metadata.uid: Invalid value: "b": field is immutable'),
        (
            {"creation_timestamp": NOON},
            'metadata.creationTimestamp: Invalid value: "2024-05-01T12:00:00Z": field is immutable',
        ),
        (
            {"deletion_timestamp": NOON},
            'metadata.deletionTimestamp: Invalid value: "2024-05-01T12:00:00Z": field is immutable',
        ),
        (
            {"deletion_grace_period_seconds": 5},
            "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable",
        ),
        ({"generation": 2}, "metadata.generation: Invalid value: 2: must not be decremented"),
        (
            {"resource_version": ""},
            'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        ),
        ({"labels": {"-": ""}}, None),
        ({"annotations": {"-": ""}}, None),
        ({"owner_references": [reference(uid="")]}, None),
        ({"managed_fields": [ManagedFieldsEntry()]}, None),
    ],
)
def test_an_update_may_not_change_what_is_fixed(
    changes: dict[str, Any], message: str | None
) -> None:
    old = meta(uid="u", generation=3)

    errors = updated(meta(**{"uid": "u", "generation": 3, **changes}), old)

    assert len(errors) == 1
    assert message is None or errors == [message]


def test_a_deletion_cannot_be_taken_back() -> None:
    assert updated(meta(), meta(deletion_timestamp=NOON)) == [
        "metadata.deletionTimestamp: Invalid value: null: field is immutable"
    ]


def test_an_update_may_change_the_rest() -> None:
    new = meta(generation=4, labels={"a": "b"}, finalizers=["x.io/a"], resource_version="9")

    assert updated(new, meta(generation=3)) == []


def test_no_finalizers_are_added_while_an_object_goes() -> None:
    old = meta(deletion_timestamp=NOON, finalizers=["x.io/old", "x.io/done"])
    new = meta(deletion_timestamp=NOON, finalizers=["x.io/old", "b", "a"])

    assert updated(new, old) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
        'deleted, found new finalizers []string{"a", "b"}'
    ]
    assert updated(meta(deletion_timestamp=NOON), old) == []


def test_a_conditional_update_names_the_version_it_replaces() -> None:
    message = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"

    assert messages(validate_conditional_update("")) == [message]
    assert messages(validate_conditional_update("0")) == [message]
    assert messages(validate_conditional_update("7")) == []


def test_a_good_label_selector_has_no_errors() -> None:
    good = LabelSelector(
        match_labels={"a": "b"},
        match_expressions=[
            LabelSelectorRequirement(key="a", operator="In", values=["b", ""]),
            LabelSelectorRequirement(key="x.io/a", operator="DoesNotExist"),
        ],
    )

    assert messages(validate_label_selector(good, Path("selector"))) == []
    assert messages(validate_label_selector(None, Path("selector"))) == []


def test_a_bad_label_selector_is_told_at_every_place() -> None:
    bad = LabelSelector(
        match_labels={"a": "-"},
        match_expressions=[
            LabelSelectorRequirement(key="a", operator="NotIn"),
            LabelSelectorRequirement(key="a", operator="Exists", values=["b"]),
            LabelSelectorRequirement(key="", operator="in", values=["ok", "-"]),
        ],
    )

    errors = messages(validate_label_selector(bad, Path("s")))

    at = "s.matchExpressions"
    assert errors[0].startswith('s.matchLabels: Invalid value: "-": a valid label must be')
    assert errors[1:4] == [
        f"{at}[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        f"{at}[1].values: Forbidden: may not be specified when `operator` is 'Exists' or "
        "'DoesNotExist'",
        f'{at}[2].operator: Invalid value: "in": not a valid selector operator',
    ]
    assert errors[4] == f'{at}[2].key: Invalid value: "": name part must be non-empty'
    assert errors[-1].startswith(f'{at}[2].values[1]: Invalid value: "-": a valid label must be')


def test_bad_values_of_a_label_selector_can_be_let_pass() -> None:
    stored = LabelSelector(
        match_expressions=[LabelSelectorRequirement(key="a", operator="In", values=["-"])]
    )

    errors = validate_label_selector(stored, Path("s"), allow_invalid_values=True)

    assert messages(errors) == []


def test_good_conditions_have_no_errors() -> None:
    good = [
        condition("Ready", True, "Started", since=NOON),
        condition("example.io/Synced", None, "ReasonA,ReasonB:c_", "text", since=NOON),
    ]

    assert messages(validate_conditions(good, Path("conditions"))) == []


def test_a_type_of_condition_is_there_once() -> None:
    twice = [condition("A", status, "R", since=NOON) for status in (True, False, None)]

    assert messages(validate_conditions(twice, Path("c"))) == [
        'c[1]: Duplicate value: "A"',
        'c[2]: Duplicate value: "A"',
    ]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            condition("A", "true", "R", since=NOON),
            'c[0].status: Unsupported value: "true": supported values: "False", "True", "Unknown"',
        ),
        (
            condition("A", True, "R", since=NOON, observed_generation=-1),
            "c[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
        ),
        (condition("A", True, "R"), "c[0].lastTransitionTime: Required value"),
        (condition("A", True, "", since=NOON), "c[0].reason: Required value"),
        (
            condition("A", True, "1", since=NOON),
            'c[0].reason: Invalid value: "1": a condition reason must start with alphabetic '
            "character, optionally followed by a string of alphanumeric characters or '_,:', and "
            "must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
            "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
            "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
        ),
        (
            condition("A", True, "R" * 1025, since=NOON),
            "c[0].reason: Too long: may not be more than 1024 bytes",
        ),
        (
            condition("A", True, "R", "m" * 32769, since=NOON),
            "c[0].message: Too long: may not be more than 32768 bytes",
        ),
    ],
)
def test_bad_conditions_are_told(bad: Condition, message: str) -> None:
    assert messages(validate_conditions([bad], Path("c"))) == [message]


def test_the_type_of_a_condition_is_a_qualified_name() -> None:
    (error,) = messages(validate_conditions([condition("a b", True, "R", since=NOON)], Path("c")))

    assert error.startswith('c[0].type: Invalid value: "a b": name part must consist of')


texts = st.text(max_size=6)
metas = st.builds(
    ObjectMeta,
    name=texts,
    generate_name=texts,
    namespace=texts,
    generation=st.integers(-2, 2),
    labels=st.dictionaries(texts, texts, max_size=2),
    annotations=st.dictionaries(texts, texts, max_size=2),
    finalizers=st.lists(texts, max_size=2),
    deletion_timestamp=st.none() | st.just(NOON),
    owner_references=st.lists(
        st.builds(
            OwnerReference,
            api_version=texts,
            kind=texts,
            name=texts,
            uid=texts,
            controller=st.none() | st.booleans(),
        ),
        max_size=2,
    ),
    managed_fields=st.lists(
        st.builds(ManagedFieldsEntry, manager=texts, operation=texts, subresource=texts), max_size=2
    ),
)


@given(metas, metas, st.booleans())
def test_any_metadata_is_judged_without_failing(
    one: ObjectMeta, other: ObjectMeta, namespaced: bool
) -> None:
    errors = [
        *validate_object_meta(one, namespaced=namespaced),
        *validate_object_meta_update(one, other),
    ]

    assert all(error.field.startswith("metadata.") and str(error) for error in errors)
