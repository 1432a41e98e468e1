"""The default roles of a server with every kind are Kubernetes', and a start brings them back."""

from collections import Counter

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.core.v1 import Namespace
from apis.kubernetes import KUBERNETES
from apis.rbac.bootstrap import bootstrap_bindings, bootstrap_roles, has_every_kind
from apis.rbac.component_roles import NAMESPACED_RULES
from apis.rbac.default_metadata import BOOTSTRAPPING
from apis.rbac.kubernetes_roles import namespaced_bindings, namespaced_roles
from apis.rbac.reconciliation import reconcile, reconciled_binding, reconciled_role
from apis.rbac.rule_texts import parse_rule, parse_subject
from apis.rbac.rules import CompiledRules
from apis.rbac.strategy import (
    ClusterRoleBindingStrategy,
    ClusterRoleStrategy,
    RoleBindingStrategy,
    RoleStrategy,
)
from apis.rbac.v1 import PolicyRule, Role, RoleBinding, Subject
from apiserver.controlplane.role_access import offers
from apiserver.controlplane.standard_server import beyond, standard_groups
from tests.apis.controlled import controlled_server

OFFERED = list(offers(beyond(standard_groups(), KUBERNETES)))
ROLES = {role.metadata.name: role for role in bootstrap_roles(OFFERED)}
BINDINGS = bootstrap_bindings(every_kind=True)
NAMESPACES = list(NAMESPACED_RULES)


def test_only_a_server_with_every_group_has_roles_for_components() -> None:
    without_apps = [offer for offer in OFFERED if offer.group != "apps"]

    assert has_every_kind(OFFERED)
    assert not has_every_kind(without_apps)
    assert not has_every_kind([])
    assert "system:kube-scheduler" not in {
        role.metadata.name for role in bootstrap_roles(without_apps)
    }


def test_there_are_as_many_as_in_kubernetes() -> None:
    controllers = [name for name in ROLES if name.startswith("system:controller:")]
    in_namespaces = [role for name in NAMESPACES for role in namespaced_roles(name)]
    bound = [binding for name in NAMESPACES for binding in namespaced_bindings(name)]

    assert (len(ROLES), len(BINDINGS)) == (73, 54)
    assert len(controllers) == 41
    assert (len(in_namespaces), len(bound)) == (7, 7)


def test_all_are_valid_and_known_to_be_the_servers() -> None:
    for role in ROLES.values():
        assert list(ClusterRoleStrategy().validate(role)) == []
        assert BOOTSTRAPPING.items() <= role.metadata.labels.items()
    for binding in BINDINGS:
        assert list(ClusterRoleBindingStrategy().validate(binding)) == []
        assert binding.role_ref.name == binding.metadata.name
        assert binding.role_ref.name in ROLES
    for namespace in NAMESPACES:
        names = {role.metadata.name for role in namespaced_roles(namespace)}
        for in_namespace in namespaced_roles(namespace):
            assert list(RoleStrategy().validate(in_namespace)) == []
        for bound in namespaced_bindings(namespace):
            assert list(RoleBindingStrategy().validate(bound)) == []
            assert bound.role_ref.name in names


def test_no_role_says_a_thing_twice() -> None:
    for name, role in ROLES.items():
        repeated = [text for text, n in Counter(map(repr, role.rules)).items() if n > 1]
        assert repeated == [], name


def test_each_controller_has_an_account_of_its_name() -> None:
    bindings = {binding.metadata.name: binding for binding in BINDINGS}

    assert bindings["system:controller:job-controller"].subjects == [
        Subject(kind="ServiceAccount", namespace="kube-system", name="job-controller")
    ]
    assert bindings["system:node"].subjects == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "read pods,pods/log",
            PolicyRule(
                verbs=["get", "list", "watch"], api_groups=[""], resources=["pods", "pods/log"]
            ),
        ),
        (
            "sign signers of certificates.k8s.io named a.b/c,d.e/f",
            PolicyRule(
                verbs=["sign"],
                api_groups=["certificates.k8s.io"],
                resources=["signers"],
                resource_names=["a.b/c", "d.e/f"],
            ),
        ),
        (
            "create,patch events of core,events.k8s.io",
            PolicyRule(
                verbs=["create", "patch"], api_groups=["", "events.k8s.io"], resources=["events"]
            ),
        ),
        ("get /a,/b/*", PolicyRule(verbs=["get"], non_resource_urls=["/a", "/b/*"])),
    ],
)
def test_a_rule_is_a_short_text(text: str, rule: PolicyRule) -> None:
    assert parse_rule(text) == rule


def test_a_subject_is_a_short_text() -> None:
    group = "rbac.authorization.k8s.io"

    assert parse_subject("user ann") == Subject(kind="User", api_group=group, name="ann")
    assert parse_subject("group a:b") == Subject(kind="Group", api_group=group, name="a:b")


async def test_a_start_adds_what_is_missing_and_keeps_what_was_added() -> None:
    async with controlled_server() as server:
        client = server.controllers_client
        namespace = Namespace(metadata=ObjectMeta(name="kube-system"))
        await client.of(Namespace, api_version="v1").create(namespace)
        roles = client.of(Role, namespace="kube-system")
        bindings = client.of(RoleBinding, namespace="kube-system")
        cleaner = next(
            role for role in namespaced_roles("kube-system") if "cleaner" in role.metadata.name
        )
        own = PolicyRule(verbs=["look"], api_groups=[""], resources=["secrets"])
        changed = cleaner.deep_copy()
        changed.rules = [own, *cleaner.rules[1:]]
        await roles.create(changed)

        for _ in range(2):
            await reconcile(roles, namespaced_roles("kube-system"), reconciled_role)
            await reconcile(bindings, namespaced_bindings("kube-system"), reconciled_binding)

        found = await roles.get(cleaner.metadata.name)
        assert own in found.rules
        assert CompiledRules(found.rules).missing(cleaner.rules) == []
        assert len((await roles.list().all()).items) == 6
        assert len((await bindings.list().all()).items) == 6
