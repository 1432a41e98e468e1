"""Who may do what: by user, group and service account, in a namespace and everywhere."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apis.rbac.policy import Policy, RoleKey
from apis.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from apiserver import User
from tests.apis.rbac.making import (
    asks,
    asks_path,
    binding,
    cluster_binding,
    cluster_role,
    paths,
    role,
    rule,
)

ANN = User("ann", groups=("devs", "system:authenticated"))


def policy(*objects: Role | ClusterRole | RoleBinding | ClusterRoleBinding) -> Policy:
    made = Policy()
    for each in objects:
        if isinstance(each, Role | ClusterRole):
            made.put_role(each)
        else:
            made.put_binding(each)
    return made


READER = role("reader", rule("get list", "configmaps"))


def test_a_role_counts_in_its_namespace() -> None:
    made = policy(READER, binding("b", "Role reader", "User ann"))

    assert made.allowed_by(ANN, asks("get", "configmaps"))
    assert not made.allowed_by(ANN, asks("get", "configmaps", namespace="other"))
    assert not made.allowed_by(ANN, asks("list", "configmaps", namespace=""))
    assert not made.allowed_by(ANN, asks("get", "secrets"))
    assert not made.allowed_by(ANN, asks("get", "configmaps/status"))
    assert not made.allowed_by(User("bob"), asks("get", "configmaps"))


def test_a_role_of_another_namespace_is_another_role() -> None:
    made = policy(READER, binding("b", "Role reader", "User ann", namespace="other"))

    assert not made.allowed_by(ANN, asks("get", "configmaps", namespace="other"))


def test_a_cluster_role_counts_where_it_is_bound() -> None:
    everywhere = policy(
        cluster_role("r", rule("get", "pods")), cluster_binding("b", "r", "User ann")
    )
    somewhere = policy(
        cluster_role("r", rule("get", "pods")), binding("b", "ClusterRole r", "User ann")
    )

    assert everywhere.allowed_by(ANN, asks("get", "pods", namespace=""))
    assert everywhere.allowed_by(ANN, asks("get", "pods", namespace="any"))
    assert somewhere.allowed_by(ANN, asks("get", "pods"))
    assert not somewhere.allowed_by(ANN, asks("get", "pods", namespace=""))
    assert not somewhere.allowed_by(ANN, asks("get", "pods", namespace="any"))


def test_paths_count_only_everywhere() -> None:
    metrics = cluster_role("m", paths("get", "/metrics"))

    assert policy(metrics, cluster_binding("b", "m", "Group devs")).allowed_by(
        ANN, asks_path("get", "/metrics")
    )
    assert not policy(metrics, binding("b", "ClusterRole m", "Group devs")).allowed_by(
        ANN, asks_path("get", "/metrics")
    )


@pytest.mark.parametrize(
    ("subject", "who", "reason"),
    [
        ("User ann", ANN, 'RoleBinding "b/ns" of Role "reader" to User "ann"'),
        ("Group devs", ANN, 'RoleBinding "b/ns" of Role "reader" to Group "devs"'),
        (
            "ServiceAccount sa",
            User("system:serviceaccount:ns:sa"),
            'RoleBinding "b/ns" of Role "reader" to ServiceAccount "sa/ns"',
        ),
        (
            "ServiceAccount sa other",
            User("system:serviceaccount:other:sa"),
            'RoleBinding "b/ns" of Role "reader" to ServiceAccount "sa/other"',
        ),
    ],
)
def test_it_is_said_what_allowed_it(subject: str, who: User, reason: str) -> None:
    made = policy(READER, binding("b", "Role reader", subject))

    assert made.allowed_by(who, asks("get", "configmaps")) == reason


def test_users_and_groups_are_not_each_other() -> None:
    made = policy(READER, binding("b", "Role reader", "User devs", "Group ann"))

    assert not made.allowed_by(ANN, asks("get", "configmaps"))


def test_what_goes_is_gone_and_what_another_gives_stays() -> None:
    first = binding("first", "Role reader", "User ann", "User ann", "Group devs")
    made = policy(READER, first, binding("second", "Role reader", "User ann"))

    made.forget_binding("ns", "first")
    assert "second" in str(made.allowed_by(ANN, asks("get", "configmaps")))
    made.forget_binding("ns", "second")
    made.forget_binding("ns", "second")

    assert made.allowed_by(ANN, asks("get", "configmaps")) is None
    assert made.rules_of(ANN, "ns") == []


def test_a_changed_binding_gives_to_whom_it_names_now() -> None:
    made = policy(READER, binding("b", "Role reader", "User ann"))

    made.put_binding(binding("b", "Role reader", "User bob"))

    assert not made.allowed_by(ANN, asks("get", "configmaps"))
    assert made.allowed_by(User("bob"), asks("get", "configmaps"))


def test_a_binding_may_come_before_its_role_and_is_a_problem_until_then() -> None:
    made = policy(
        binding("a", "Role reader", "User ann"),
        binding("b", "Role reader", "Group devs"),
        cluster_binding("c", "viewer", "User ann"),
    )

    assert made.problems(ANN, "ns") == (
        '[clusterrole.rbac.authorization.k8s.io "viewer" not found, '
        'role.rbac.authorization.k8s.io "reader" not found]'
    )
    made.put_role(cluster_role("viewer"))
    assert made.problems(ANN, "ns") == 'role.rbac.authorization.k8s.io "reader" not found'
    made.put_role(READER)
    assert made.problems(ANN, "ns") == ""
    assert made.allowed_by(ANN, asks("get", "configmaps"))
    made.forget_role("ns", "reader")
    assert not made.allowed_by(ANN, asks("get", "configmaps"))


def test_rules_are_those_of_all_roles_each_once() -> None:
    general = cluster_role("general", rule("get", "pods"))
    made = policy(
        READER,
        general,
        binding("a", "Role reader", "User ann", "Group devs"),
        cluster_binding("c", "general", "User ann"),
    )

    assert made.rules_of(ANN, "ns") == [*general.rules, *READER.rules]
    assert made.rules_of(ANN, "") == general.rules
    assert made.rules_in(RoleKey("ns", "reader")) == tuple(READER.rules)
    assert made.rules_in(RoleKey("", "reader")) is None


NAMES = st.sampled_from(["a", "b"])
STEPS = st.lists(
    st.tuples(st.just("put role"), NAMES, st.sampled_from(["get", "list"]), st.just(()))
    | st.tuples(st.just("drop role"), NAMES, st.just(""), st.just(()))
    | st.tuples(
        st.just("put binding"),
        NAMES,
        NAMES,
        st.lists(st.sampled_from(["User ann", "Group devs", "User bob"]), max_size=3).map(tuple),
    )
    | st.tuples(st.just("drop binding"), NAMES, st.just(""), st.just(())),
    max_size=12,
)


@given(STEPS)
def test_the_order_of_what_happened_does_not_matter(steps: list[tuple[str, str, str, Any]]) -> None:
    """However it came about, a policy answers as one that is told the outcome only."""
    lived = Policy()
    roles: dict[str, Role] = {}
    bindings: dict[str, RoleBinding] = {}
    for step, name, word, subjects in steps:
        match step:
            case "put role":
                roles[name] = role(name, rule(word, "pods"))
                lived.put_role(roles[name])
            case "drop role":
                roles.pop(name, None)
                lived.forget_role("ns", name)
            case "put binding":
                bindings[name] = binding(name, f"Role {word}", *subjects)
                lived.put_binding(bindings[name])
            case "drop binding":
                bindings.pop(name, None)
                lived.forget_binding("ns", name)
    fresh = policy(*roles.values(), *bindings.values())

    for who in (ANN, User("bob"), User("eve", groups=("devs",))):
        for verb in ("get", "list"):
            asked = asks(verb, "pods")
            assert (lived.allowed_by(who, asked) is None) == (fresh.allowed_by(who, asked) is None)
        assert set(lived.missing_roles(who, "ns")) == set(fresh.missing_roles(who, "ns"))
    for name in bindings:
        lived.forget_binding("ns", name)
    assert not lived.missing_roles(ANN, "ns")
    assert not lived.rules_of(ANN, "ns")
