"""Nobody gives what they do not have."""

import pytest

from apimachinery.errors import APIError, Forbidden, NotFound
from apimachinery.meta.types import LabelSelector, Object
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.rbac import GROUP
from apis.rbac.escalation import EscalationCheck
from apis.rbac.policy import Policy
from apis.rbac.v1 import AggregationRule, PolicyRule
from apiserver import Attributes, Decision, RequestContext, RequestInfo, User
from apiserver.admission.chain import Operation
from apiserver.auth.authorization import Rules
from tests.apis.rbac.making import (
    binding,
    cluster_binding,
    cluster_role,
    paths,
    role,
    rule,
)

EVE = User("eve", groups=("devs",))


def write(
    new: Object | None, old: Object | None = None, *, user: User = EVE, name: str = ""
) -> Attributes:
    """A write of *new*, whose URL has *name*."""
    context = RequestContext(
        user,
        "update",
        GroupVersionResource(GROUP, "v1", "roles"),
        namespace=new.metadata.namespace if new else "",
        name=name,
    )
    return Attributes(context, Operation.UPDATE, GroupKind(GROUP, "Role"), new, old)


class Server:
    """Knows one role of its user, and what they may do to roles."""

    def __init__(self, *held: PolicyRule, may: str = "") -> None:
        self._may = may
        self._policy = Policy()
        self._policy.put_role(cluster_role("held", *held))
        self._policy.put_binding(cluster_binding("b", "held", "User eve"))
        self.roles = self._policy.put_role

    def bind(self, role: str) -> None:
        self._policy.put_binding(cluster_binding(role, role, "User eve"))

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        where = f"{attributes.namespace or '-'} {attributes.name or '-'}"
        asked = f"{user.name} {attributes.verb} {attributes.resource} {where}"
        return Decision(attributes.group == GROUP and asked == self._may)

    async def rules(self, user: User, namespace: str) -> Rules:
        return Rules()

    async def policy(self) -> Policy:
        return self._policy

    @property
    def check(self) -> EscalationCheck:
        return EscalationCheck(self, self.policy)


async def refusal(server: Server, attributes: Attributes) -> str:
    """The words of a refusal, empty if there is none."""
    try:
        await server.check(attributes)
    except APIError as error:
        return error.message
    return ""


READ = rule("get list", "pods")
WRITE = rule("get list delete", "pods secrets")


async def test_a_role_with_what_one_has() -> None:
    assert not await refusal(Server(READ), write(role("r", rule("list", "pods"))))
    assert not await refusal(Server(READ), write(cluster_role("r", READ)))
    assert not await refusal(Server(READ), write(role("r")))


async def test_a_role_with_more() -> None:
    assert await refusal(Server(READ), write(role("r", WRITE))) == (
        'roles.rbac.authorization.k8s.io "r" is forbidden: user "eve" (groups=["devs"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}'
    )


async def test_what_was_there_before_is_checked_again() -> None:
    old = role("r", WRITE)
    new = old.deep_copy()
    new.metadata.labels = {"a": "b"}

    with pytest.raises(Forbidden):
        await Server(READ).check(write(new, old))


async def test_the_garbage_collector_may_let_go_of_anything() -> None:
    old = role("r", WRITE)
    old.metadata.finalizers = ["example.io/x"]
    new = old.deep_copy()
    new.metadata.finalizers = []

    assert not await refusal(Server(READ), write(new, old))


@pytest.mark.parametrize(
    ("may", "name"),
    [("eve escalate roles ns -", ""), ("eve escalate roles ns r", "r")],
)
async def test_who_may_escalate_does(may: str, name: str) -> None:
    assert not await refusal(Server(may=may), write(role("r", WRITE), name=name))
    assert await refusal(Server(may=may), write(role("r", WRITE), name="other"))


async def test_masters_may_anything() -> None:
    root = User("root", groups=("system:masters",))

    assert not await refusal(Server(), write(cluster_role("r", WRITE), user=root))


async def test_deletions_are_not_looked_at() -> None:
    assert not await refusal(Server(), write(None, role("r", WRITE)))


async def test_a_role_of_the_namespace_counts_only_there() -> None:
    """Who has everything in a namespace cannot make a cluster role of it."""
    server = Server()
    server.roles(role("all", rule("*", "*", groups="*")))
    server._policy.put_binding(binding("x", "Role all", "User eve"))

    assert not await refusal(server, write(role("r", WRITE)))
    assert "clusterroles.rbac.authorization.k8s.io" in await refusal(
        server, write(cluster_role("r", WRITE))
    )


async def test_roles_that_are_missing_are_told_with_a_refusal() -> None:
    server = Server(READ)
    server.bind("nope")

    assert (await refusal(server, write(role("r", WRITE)))).endswith(
        '; resolution errors: [clusterroles.rbac.authorization.k8s.io "nope" not found]'
    )


async def test_too_many_rules_are_refused_without_counting_them() -> None:
    many = [f"w{number}" for number in range(2000)]
    huge = PolicyRule(verbs=many, api_groups=many, resources=many)

    refused = await refusal(Server(READ), write(role("r", huge)))

    assert refused.endswith("not currently held:\nsome of more than 20000 permissions")
    everything = rule("*", "*", groups="*")
    assert not await refusal(Server(everything), write(role("r", huge)))


def aggregating(*rules: PolicyRule) -> Object:
    made = cluster_role("sum", *rules)
    selector = LabelSelector(match_labels={"a": "b"})
    made.aggregation_rule = AggregationRule(cluster_role_selectors=[selector])
    return made


AGGREGATION = (
    'clusterroles.rbac.authorization.k8s.io "sum" is forbidden: '
    "must have cluster-admin privileges to use the aggregationRule"
)


async def test_only_who_has_everything_may_aggregate() -> None:
    everything = rule("*", "*", groups="*")

    assert await refusal(Server(everything), write(aggregating())) == AGGREGATION
    plain = cluster_role("sum")
    assert await refusal(Server(everything), write(plain, aggregating())) == AGGREGATION
    assert not await refusal(Server(everything, paths("*", "*")), write(aggregating()))


async def test_a_binding_to_a_role_whose_rules_one_has() -> None:
    server = Server(READ)
    server.roles(cluster_role("reader", READ))

    assert not await refusal(server, write(cluster_binding("b", "reader", "User bob")))
    assert not await refusal(server, write(binding("b", "ClusterRole reader", "User bob")))


async def test_a_binding_to_a_role_with_more() -> None:
    server = Server(READ)
    server.roles(role("writer", WRITE))

    assert await refusal(server, write(binding("b", "Role writer", "User bob"))) == (
        'rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "eve" (groups=["devs"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}'
    )


@pytest.mark.parametrize(
    ("may", "attributes"),
    [
        ("eve bind roles ns writer", write(binding("b", "Role writer", "User bob"))),
        ("eve bind clusterroles ns writer", write(binding("b", "ClusterRole writer"))),
        ("eve bind clusterroles - writer", write(cluster_binding("b", "writer", "User bob"))),
    ],
)
async def test_who_may_bind_a_role_does_even_if_there_is_none(
    may: str, attributes: Attributes
) -> None:
    assert not await refusal(Server(may=may), attributes)


async def test_a_binding_to_a_role_that_is_not_there() -> None:
    with pytest.raises(NotFound) as caught:
        await Server(READ).check(write(binding("b", "Role nope", "User bob")))

    assert caught.value.message == 'roles.rbac.authorization.k8s.io "nope" not found'


@pytest.mark.parametrize(
    "attributes", [write(binding("b", "Rolex x")), write(binding("b", "Role x", namespace=""))]
)
async def test_what_cannot_be_is_left_to_validation(attributes: Attributes) -> None:
    assert not await refusal(Server(), attributes)


async def test_rules_that_take_too_long_to_compare_are_refused() -> None:
    """Each permission is compared with all rules that the writer has for the resource."""
    held = [rule("get", "pods", groups=f"g{number}") for number in range(2000)]
    wanted = PolicyRule(verbs=["get"], api_groups=["none"] * 2000, resources=["pods"])

    refused = await refusal(Server(*held), write(role("r", wanted)))

    assert refused.endswith("some of the permissions; there are too many rules to compare")


async def test_a_refusal_names_a_limited_number_of_permissions() -> None:
    wanted = PolicyRule(
        verbs=["get"], api_groups=[""], resources=[f"r{number}" for number in range(150)]
    )

    refused = await refusal(Server(READ), write(role("r", wanted)))

    assert refused.endswith("\nand 50 more")
    assert refused.count("APIGroups") == 100
