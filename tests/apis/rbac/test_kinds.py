"""Roles and bindings as they are written and shown: defaults, what is wrong with them, columns."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.meta.types import Object, ObjectMeta
from apis.rbac import GROUP
from apis.rbac.strategy import (
    ClusterRoleBindingStrategy,
    ClusterRoleStrategy,
    RoleBindingStrategy,
    RoleStrategy,
)
from apis.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from apiserver.views.table import whole_table
from tests.apis.groups import GROUPS
from tests.apis.rbac.making import binding, cluster_binding, role, rule
from tests.apis.validating import decoded, messages

RBAC = next(group for group in GROUPS if group.name == GROUP)
ADMIN = {"kind": "ClusterRole", "name": "admin"}

RULES = [
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, []),
    (
        {},
        [
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
            "rules[0].verbs: Required value",
        ],
    ),
    (
        {"verbs": ["get"], "nonResourceURLs": ["/a"], "resources": ["pods"]},
        [
            'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular '
            "resources and non-resource URLs"
        ],
    ),
]


@pytest.mark.parametrize(("given", "expected"), RULES)
def test_rules(given: dict[str, Any], expected: list[str]) -> None:
    made = decoded(ClusterRole, {"rules": [given]})

    assert messages(ClusterRoleStrategy().validate(made)) == expected
    assert messages(ClusterRoleStrategy().validate_update(made, ClusterRole())) == expected


def test_paths_are_for_cluster_roles() -> None:
    document = {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a", "/b"]}]}

    assert messages(ClusterRoleStrategy().validate(decoded(ClusterRole, document))) == []
    assert messages(RoleStrategy().validate(decoded(Role, document))) == [
        'rules[0].nonResourceURLs: Invalid value: ["/a","/b"]: namespaced rules cannot apply to '
        "non-resource URLs"
    ]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([{"matchLabels": {"a": "b"}}], []),
        (
            [],
            [
                "aggregationRule.clusterRoleSelectors: Required value: at least one "
                "clusterRoleSelector required if aggregationRule is non-nil"
            ],
        ),
        (
            [{"matchExpressions": [{"key": "a", "operator": "In"}]}],
            [
                "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required "
                "value: must be specified when `operator` is 'In' or 'NotIn'",
                "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label "
                "selector.",
            ],
        ),
    ],
)
def test_aggregation(selectors: list[dict[str, Any]], expected: list[str]) -> None:
    document = {"aggregationRule": {"clusterRoleSelectors": selectors}}

    assert messages(ClusterRoleStrategy().validate(decoded(ClusterRole, document))) == expected


def test_a_binding_says_no_more_than_it_must() -> None:
    made = decoded(
        RoleBinding,
        {
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [
                {"kind": "User", "name": "ann"},
                {"kind": "Group", "name": "devs"},
                {"kind": "ServiceAccount", "name": "sa"},
            ],
        },
    )

    assert made.role_ref.api_group == GROUP
    assert [subject.api_group for subject in made.subjects] == [GROUP, GROUP, ""]
    assert messages(RoleBindingStrategy().validate(made)) == []


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (
            {"kind": "Rolex", "name": "a", "apiGroup": "x"},
            [
                f'roleRef.apiGroup: Unsupported value: "x": supported values: "{GROUP}"',
                'roleRef.kind: Unsupported value: "Rolex": supported values: "Role", "ClusterRole"',
            ],
        ),
        ({"kind": "Role"}, ["roleRef.name: Required value"]),
        (
            {"kind": "Role", "name": "a/b"},
            ["roleRef.name: Invalid value: \"a/b\": may not contain '/'"],
        ),
    ],
)
def test_role_references(reference: dict[str, Any], expected: list[str]) -> None:
    made = decoded(RoleBinding, {"roleRef": reference})

    assert messages(RoleBindingStrategy().validate(made)) == expected


def test_a_cluster_role_binding_gives_cluster_roles_only() -> None:
    made = decoded(ClusterRoleBinding, {"roleRef": {"kind": "Role", "name": "a"}})

    assert messages(ClusterRoleBindingStrategy().validate(made)) == [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'
    ]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (
            {"kind": "User"},
            ["subjects[0].name: Required value"],
        ),
        (
            {"kind": "Group", "apiGroup": "x", "name": "g"},
            [f'subjects[0].apiGroup: Unsupported value: "x": supported values: "{GROUP}"'],
        ),
        (
            {"kind": "Robot", "name": "r"},
            [
                'subjects[0].kind: Unsupported value: "Robot": supported values: '
                '"ServiceAccount", "User", "Group"'
            ],
        ),
        (
            {"kind": "ServiceAccount", "name": "sa", "apiGroup": "x"},
            [
                'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
                "subjects[0].namespace: Required value",
            ],
        ),
    ],
)
def test_subjects(subject: dict[str, Any], expected: list[str]) -> None:
    made = decoded(ClusterRoleBinding, {"roleRef": ADMIN, "subjects": [subject]})

    assert messages(ClusterRoleBindingStrategy().validate(made)) == expected


def test_the_name_of_a_service_account_is_one() -> None:
    subjects = [{"kind": "ServiceAccount", "name": "A"}]
    made = decoded(RoleBinding, {"roleRef": ADMIN, "subjects": subjects})

    (found,) = messages(RoleBindingStrategy().validate(made))

    assert found.startswith('subjects[0].name: Invalid value: "A": a lowercase RFC 1123 subdomain')


@pytest.mark.parametrize(
    ("strategy", "old", "new"),
    [
        (RoleBindingStrategy(), binding("b", "Role a"), binding("b", "ClusterRole a")),
        (ClusterRoleBindingStrategy(), cluster_binding("b", "b"), cluster_binding("b", "a")),
    ],
)
def test_a_binding_keeps_its_role(strategy: Any, old: Object, new: Object) -> None:
    expected = f'{{"APIGroup":"{GROUP}","Kind":"ClusterRole","Name":"a"}}'

    assert messages(strategy.validate_update(old, old)) == []
    assert messages(strategy.validate_update(new, old)) == [
        f"roleRef: Invalid value: {expected}: field is immutable"
    ]


@pytest.mark.parametrize("resource", RBAC.resources, ids=lambda resource: resource.name)
def test_names_are_what_can_stand_in_a_url_and_a_put_creates(resource: Any) -> None:
    strategy = resource.strategy

    assert strategy.name_errors("system:Aggregate_to edit") == []
    assert strategy.name_errors("a/b") == ["may not contain '/'"]
    assert strategy.allow_create_on_update
    assert strategy.allow_unconditional_update
    assert strategy.desired_state(resource.cls()) is None


def row(name: str, obj: Object) -> dict[str, Any]:
    columns = next(found.columns for found in RBAC.resources if found.name == name)
    return {column.name: column.cell(obj) for column in whole_table(columns)}


@pytest.mark.parametrize("resource", ["roles", "clusterroles"])
def test_the_table_of_roles_shows_when_they_were_made(resource: str) -> None:
    made = role("reader", rule("get", "pods"))
    made.metadata.creation_timestamp = datetime(2030, 1, 1, tzinfo=UTC)

    assert row(resource, made) == {"Name": "reader", "Created At": "2030-01-01T00:00:00Z"}


@pytest.mark.parametrize("resource", ["rolebindings", "clusterrolebindings"])
def test_the_table_of_bindings_shows_who_gets_what(resource: str) -> None:
    created = datetime(2030, 1, 1, tzinfo=UTC)
    made = binding("b", "Role reader", "User ann", "User bob", "Group g", "ServiceAccount sa ns")
    made.metadata = ObjectMeta(name="b", creation_timestamp=created)

    assert row(resource, made) == {
        "Name": "b",
        "Role": "Role/reader",
        "Age": created,
        "Users": "ann, bob",
        "Groups": "g",
        "ServiceAccounts": "ns/sa",
    }
    assert " ".join(row(resource, made)) == "Name Role Age Users Groups ServiceAccounts"
