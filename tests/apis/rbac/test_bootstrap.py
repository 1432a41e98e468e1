"""The roles that every server has, and how a start brings them back."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from apimachinery.errors import AlreadyExists, Forbidden, NotFound
from apimachinery.meta.types import LabelSelector, Object, ObjectMeta
from apimachinery.schema import GroupResource
from apis.gadgets.install import GADGETS
from apis.rbac.aggregation import aggregated_rules
from apis.rbac.bootstrap import (
    AUTOUPDATE,
    BOOTSTRAPPING,
    Offer,
    bootstrap_bindings,
    bootstrap_roles,
)
from apis.rbac.policy import Policy
from apis.rbac.reconciliation import reconcile, reconciled_binding, reconciled_role
from apis.rbac.strategy import ClusterRoleBindingStrategy, ClusterRoleStrategy
from apis.rbac.v1 import AggregationRule, ClusterRole, ClusterRoleBinding
from apiserver import User
from apiserver.controlplane.role_access import offers
from tests.apis.rbac.making import (
    asks,
    asks_path,
    binding,
    cluster_binding,
    cluster_role,
    rule,
    subject,
)

LAMPS = "lamps.example.io"
OFFERS = (
    Offer(LAMPS, "lamps", ("status", "scale"), ("scale",)),
    Offer(LAMPS, "keys", roles=("edit",)),
)


def standard(*more: Any) -> Policy:
    made = Policy()
    for each in bootstrap_roles(OFFERS):
        made.put_role(each)
    for each in (*bootstrap_bindings(), *more):
        made.put_binding(each)
    return made


def test_they_are_valid_and_known_to_be_the_servers() -> None:
    for role in bootstrap_roles(OFFERS):
        assert list(ClusterRoleStrategy().validate(role)) == []
        assert BOOTSTRAPPING.items() <= role.metadata.labels.items()
        assert role.metadata.annotations == {AUTOUPDATE: "true"}
    for each in bootstrap_bindings():
        assert list(ClusterRoleBindingStrategy().validate(each)) == []
        assert each.metadata.labels == BOOTSTRAPPING
        assert each.role_ref.name in {role.metadata.name for role in bootstrap_roles()}


def test_roles_that_collect_are_complete_from_the_start() -> None:
    roles = bootstrap_roles(OFFERS)

    collecting = [role for role in roles if role.aggregation_rule]

    assert [role.metadata.name for role in collecting] == ["view", "edit", "admin"]
    for role in collecting:
        assert role.rules == aggregated_rules(role, roles)


@pytest.mark.parametrize(
    ("role", "verb", "resource", "group", "allowed"),
    [
        ("view", "list", "configmaps", "", True),
        ("view", "get", "secrets", "", False),
        ("view", "create", "configmaps", "", False),
        ("view", "get", "lamps/status", LAMPS, True),
        ("view", "get", "keys", LAMPS, False),
        ("view", "update", "lamps/scale", LAMPS, False),
        ("edit", "get", "secrets", "", True),
        ("edit", "create", "configmaps", "", True),
        ("edit", "list", "services", "", True),
        ("edit", "update", "leases", "coordination.k8s.io", True),
        ("edit", "update", "lamps/scale", LAMPS, True),
        ("edit", "update", "lamps/status", LAMPS, False),
        ("edit", "get", "keys", LAMPS, True),
        ("edit", "create", "roles", "rbac.authorization.k8s.io", False),
        ("admin", "create", "roles", "rbac.authorization.k8s.io", True),
        ("admin", "delete", "lamps", LAMPS, True),
        ("admin", "update", "namespaces", "", False),
        ("cluster-admin", "anything", "things/parts", "else", True),
    ],
)
def test_what_the_roles_for_people_allow(
    role: str, verb: str, resource: str, group: str, allowed: bool
) -> None:
    made = standard(binding("b", f"ClusterRole {role}", "User ann"))

    assert bool(made.allowed_by(User("ann"), asks(verb, resource, group=group))) is allowed


def test_monitoring_may_see_health_and_metrics() -> None:
    scraper = User("scraper", groups=("system:monitoring",))

    assert standard().allowed_by(scraper, asks_path("get", "/metrics"))
    assert standard().allowed_by(scraper, asks_path("get", "/readyz/ping"))
    assert not standard().allowed_by(scraper, asks_path("get", "/logs"))


def test_a_group_offers_what_is_stored_in_namespaces() -> None:
    assert list(offers([GADGETS])) == [
        Offer("gadgets.example.io", "gadgets", ("status", "scale"), ("scale",))
    ]


# Reconciliation


def test_missing_rules_are_added_and_others_stay() -> None:
    current = cluster_role("r", rule("get", "pods"), rule("delete", "pods"))
    expected = cluster_role("r", rule("get list", "pods"), mine="yes")

    new = reconciled_role(current, expected)

    assert new is not None
    assert new.rules == [*current.rules, rule("list", "pods")]
    assert new.metadata.labels == {"mine": "yes"}
    assert reconciled_role(new, expected) is None


def test_labels_and_annotations_keep_the_values_they_have() -> None:
    current = cluster_role("r", mine="no")
    expected = cluster_role("r", mine="yes", more="yes")

    new = reconciled_role(current, expected)

    assert new is not None
    assert new.metadata.labels == {"mine": "no", "more": "yes"}


@pytest.mark.parametrize("given", [None, AggregationRule()])
def test_missing_selectors_are_added(given: AggregationRule | None) -> None:
    current = cluster_role("sum", rule("get", "pods"))
    current.aggregation_rule = given
    expected = next(role for role in bootstrap_roles() if role.metadata.name == "view")

    new = reconciled_role(current, expected)

    assert new is not None
    assert new.aggregation_rule == expected.aggregation_rule
    assert new.rules == current.rules
    assert reconciled_role(new, expected) is None


def test_the_annotation_protects() -> None:
    role, bound = cluster_role("r"), cluster_binding("b", "r")
    role.metadata.annotations = bound.metadata.annotations = {AUTOUPDATE: "false"}

    assert reconciled_role(role, cluster_role("r", rule("get", "pods"))) is None
    assert reconciled_binding(bound, cluster_binding("b", "r", "User ann")) is None


def test_missing_subjects_are_added_and_others_stay() -> None:
    new = reconciled_binding(
        cluster_binding("b", "r", "User ann", "User bob"),
        cluster_binding("b", "r", "User bob", "User eve"),
    )

    assert new is not None
    assert new.subjects == [subject("User ann"), subject("User bob"), subject("User eve")]


class Shelf:
    """Keeps objects by name, as a registry would, and lets others in between."""

    def __init__(self, *objects: Object) -> None:
        self.objects = {each.metadata.name: each for each in objects}
        self.writes: list[str] = []

    async def find(self, name: str) -> Any:
        await asyncio.sleep(0)
        return self.objects.get(name)

    async def create(self, obj: Any) -> Any:
        await asyncio.sleep(0)
        name = obj.metadata.name
        if name in self.objects:
            raise AlreadyExists.of(GroupResource("", "x"), name)
        self.writes.append(f"create {name}")
        self.objects[name] = obj

    async def change(self, name: str, change: Callable[[Any], Any]) -> Any:
        await asyncio.sleep(0)
        if name not in self.objects:
            raise NotFound.of(GroupResource("", "x"), name)
        new = change(self.objects[name])
        if new != self.objects[name]:
            self.writes.append(f"change {name}")
        self.objects[name] = new

    async def delete(self, name: str) -> None:
        await asyncio.sleep(0)
        if self.objects.pop(name, None) is None:
            raise NotFound.of(GroupResource("", "x"), name)
        self.writes.append(f"delete {name}")


async def test_workers_may_race() -> None:
    shelf = Shelf(cluster_role("view"))
    expected = bootstrap_roles()

    await asyncio.gather(*(reconcile(shelf, expected, reconciled_role) for _ in range(3)))

    assert sorted(shelf.writes) == sorted(
        f"{'change' if role.metadata.name == 'view' else 'create'} {role.metadata.name}"
        for role in expected
    )


async def test_a_binding_to_another_role_is_replaced() -> None:
    shelf = Shelf(cluster_binding("b", "other", "User ann"))

    await reconcile(shelf, [cluster_binding("b", "r", "User bob")], reconciled_binding)

    assert shelf.writes == ["delete b", "create b"]
    found: ClusterRoleBinding = shelf.objects["b"]  # type: ignore[assignment]
    assert (found.role_ref.name, found.subjects) == ("r", [subject("User bob")])


async def test_what_is_deleted_meanwhile_is_created() -> None:
    shelf = Shelf(cluster_role("view"))
    found = shelf.find

    async def find(name: str) -> Any:
        seen = await found(name)
        shelf.objects.pop(name, None)
        return seen

    shelf.find = find  # type: ignore[method-assign]
    await reconcile(shelf, [cluster_role("view", rule("get", "pods"))], reconciled_role)

    assert shelf.writes == ["create view"]


async def test_what_goes_wrong_is_told_as_it_is() -> None:
    shelf = Shelf()

    async def create(obj: Any) -> Any:
        raise Forbidden("the store is read-only")

    shelf.create = create  # type: ignore[method-assign]
    with pytest.raises(Forbidden, match="read-only"):
        await reconcile(shelf, bootstrap_roles(), reconciled_role)


async def test_what_is_as_expected_is_not_written() -> None:
    shelf = Shelf(*bootstrap_roles())

    await reconcile(shelf, bootstrap_roles(), reconciled_role)

    assert shelf.writes == []


# Aggregation


def test_rules_come_by_selector_and_name_each_once() -> None:
    first, second = rule("get", "pods"), rule("list", "pods")
    role = ClusterRole(
        metadata=ObjectMeta(name="sum", labels={"a": "1", "b": "1"}),
        rules=[rule("*", "*")],
        aggregation_rule=AggregationRule(
            cluster_role_selectors=[
                LabelSelector(match_labels={"b": "1"}),
                LabelSelector(match_labels={"a": "1"}),
            ]
        ),
    )
    givers = [
        cluster_role("z", first, first, a="1"),
        cluster_role("y", second, a="1"),
        cluster_role("x", first, b="1"),
        cluster_role("other", rule("delete", "pods")),
        role,
    ]

    assert aggregated_rules(role, givers) == [first, second]
