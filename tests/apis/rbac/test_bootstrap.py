"""The roles that every server has, and how a start brings them back."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from apimachinery.errors import Forbidden
from apimachinery.meta.types import LabelSelector, ObjectMeta
from apis.gadgets.install import GADGETS
from apis.kubernetes import KUBERNETES
from apis.rbac.aggregation import aggregated_rules
from apis.rbac.bootstrap import Offer, bootstrap_bindings, bootstrap_roles
from apis.rbac.default_metadata import AUTOUPDATE, BOOTSTRAPPING
from apis.rbac.policy import Policy
from apis.rbac.reconciliation import reconcile, reconciled_binding, reconciled_role
from apis.rbac.strategy import ClusterRoleBindingStrategy, ClusterRoleStrategy
from apis.rbac.v1 import AggregationRule, ClusterRole, ClusterRoleBinding
from apiserver import User
from apiserver.controlplane.role_access import offers
from apiserver.controlplane.standard_server import beyond, standard_groups
from client.interface import ResourceClient
from tests.apis.controlled import ControlledServer, controlled_server
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


class Server:
    """The cluster roles and bindings of a server, and what is written to them."""

    def __init__(self, server: ControlledServer) -> None:
        self.faults = server.faults
        client = server.controllers_client
        self.roles = client.of(ClusterRole)
        self.bindings = client.of(ClusterRoleBinding)

    async def versions(self) -> dict[str, str]:
        roles = (await self.roles.list().all()).items
        return {role.metadata.name: role.metadata.resource_version for role in roles}


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with controlled_server() as controlled:
        yield Server(controlled)


async def test_workers_may_race(server: Server) -> None:
    await server.roles.create(cluster_role("view", rule("look", "lamps")))
    expected = bootstrap_roles()

    await asyncio.gather(*(reconcile(server.roles, expected, reconciled_role) for _ in range(3)))

    roles = {role.metadata.name: role for role in (await server.roles.list().all()).items}
    assert roles.keys() == {role.metadata.name for role in expected}
    assert roles["view"].aggregation_rule is not None
    assert rule("look", "lamps") in roles["view"].rules


async def test_a_binding_to_another_role_is_replaced(server: Server) -> None:
    before = await server.bindings.create(cluster_binding("b", "other", "User ann"))

    await reconcile(server.bindings, [cluster_binding("b", "r", "User bob")], reconciled_binding)

    found = await server.bindings.get("b")
    assert (found.role_ref.name, found.subjects) == ("r", [subject("User bob")])
    assert found.metadata.uid != before.metadata.uid


async def test_what_is_deleted_meanwhile_is_created(server: Server) -> None:
    before = await server.roles.create(cluster_role("view"))
    listed = await server.roles.list().all()
    await server.roles.delete("view")
    expected = cluster_role("view", rule("get", "pods"))

    class Stale:
        """Lists what was there before the deletion."""

        def list(self) -> Any:
            return self

        async def all(self) -> Any:
            return listed

        def __getattr__(self, name: str) -> Any:
            return getattr(server.roles, name)

    await reconcile(cast(ResourceClient[ClusterRole], Stale()), [expected], reconciled_role)

    found = await server.roles.get("view")
    assert found.rules == expected.rules
    assert found.metadata.uid != before.metadata.uid


async def test_what_another_worker_changes_meanwhile_is_looked_at_again(server: Server) -> None:
    await server.roles.create(cluster_role("view"))
    server.faults.update(ClusterRole).conflict()

    await reconcile(server.roles, [cluster_role("view", rule("get", "pods"))], reconciled_role)

    assert (await server.roles.get("view")).rules == [rule("get", "pods")]


async def test_what_goes_wrong_is_told_as_it_is(server: Server) -> None:
    server.faults.create(ClusterRole).forbidden()

    with pytest.raises(Forbidden, match="a fault of the test"):
        await reconcile(server.roles, bootstrap_roles(), reconciled_role)


async def test_what_is_as_expected_is_not_written(server: Server) -> None:
    await reconcile(server.roles, bootstrap_roles(), reconciled_role)
    before = await server.versions()

    await reconcile(server.roles, bootstrap_roles(), reconciled_role)

    assert await server.versions() == before


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


def test_a_server_with_all_kinds_grants_what_kubernetes_grants() -> None:
    served = beyond(standard_groups(), KUBERNETES)
    roles = {role.metadata.name: role for role in bootstrap_roles(offers(served))}
    granted = {
        (group, resource, verb)
        for rule in roles["edit"].rules
        for group in rule.api_groups
        for resource in rule.resources
        for verb in rule.verbs
    }

    assert {
        ("", "pods", "create"),
        ("", "pods/exec", "create"),
        ("", "pods/eviction", "create"),
        ("apps", "deployments/scale", "update"),
        ("apps", "controllerrevisions", "get"),
        ("resource.k8s.io", "resourceclaims", "delete"),
    } <= granted
    assert granted.isdisjoint(
        {
            ("apps", "controllerrevisions", "update"),
            ("", "resourcequotas", "update"),
            ("resource.k8s.io", "resourceslices", "get"),
            ("admissionregistration.k8s.io", "validatingwebhookconfigurations", "get"),
        }
    )
    assert not [name for name in roles if name.endswith((":view", ":edit"))], "no role of a group"
