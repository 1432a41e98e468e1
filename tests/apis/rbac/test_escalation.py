"""Nobody gives what they do not have."""

from dataclasses import dataclass, field

import pytest

from apimachinery.errors import APIError, Forbidden, NotFound
from apimachinery.meta.types import LabelSelector, Object
from apis.rbac.escalation import EscalationCheck
from apis.rbac.policy import Policy, User
from apis.rbac.v1 import AggregationRule, PolicyRule
from tests.apis.rbac.making import (
    Person,
    binding,
    cluster_binding,
    cluster_role,
    paths,
    role,
    rule,
)

EVE = Person("eve", ("devs",))


@dataclass
class Context:
    name: str = ""


@dataclass
class Write:
    object: Object | None
    old_object: Object | None = None
    user: Person = EVE
    context: Context = field(default_factory=Context)

    @property
    def namespace(self) -> str:
        return self.object.metadata.namespace if self.object else ""


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

    async def may(self, user: User, verb: str, resource: str, *, namespace: str, name: str) -> bool:
        return f"{user.name} {verb} {resource} {namespace or '-'} {name or '-'}" == self._may

    async def policy(self) -> Policy:
        return self._policy


async def refusal(server: Server, write: Write) -> str:
    """The words of a refusal, empty if there is none."""
    try:
        await EscalationCheck(server)(write)
    except APIError as error:
        return error.message
    return ""


READ = rule("get list", "pods")
WRITE = rule("get list delete", "pods secrets")


async def test_a_role_with_what_one_has() -> None:
    assert not await refusal(Server(READ), Write(role("r", rule("list", "pods"))))
    assert not await refusal(Server(READ), Write(cluster_role("r", READ)))
    assert not await refusal(Server(READ), Write(role("r")))


async def test_a_role_with_more() -> None:
    assert await refusal(Server(READ), Write(role("r", WRITE))) == (
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
        await EscalationCheck(Server(READ))(Write(new, old))


async def test_the_garbage_collector_may_let_go_of_anything() -> None:
    old = role("r", WRITE)
    old.metadata.finalizers = ["example.io/x"]
    new = old.deep_copy()
    new.metadata.finalizers = []

    assert not await refusal(Server(READ), Write(new, old))


@pytest.mark.parametrize(
    ("may", "name"),
    [("eve escalate roles ns -", ""), ("eve escalate roles ns r", "r")],
)
async def test_who_may_escalate_does(may: str, name: str) -> None:
    write = Write(role("r", WRITE), context=Context(name))

    assert not await refusal(Server(may=may), write)
    assert await refusal(Server(may=may), Write(role("r", WRITE), context=Context("other")))


async def test_masters_may_anything() -> None:
    root = Person("root", ("system:masters",))

    assert not await refusal(Server(), Write(cluster_role("r", WRITE), user=root))


async def test_deletions_are_not_looked_at() -> None:
    assert not await refusal(Server(), Write(None, role("r", WRITE)))


async def test_a_role_of_the_namespace_counts_only_there() -> None:
    """Who has everything in a namespace cannot make a cluster role of it."""
    server = Server()
    server.roles(role("all", rule("*", "*", groups="*")))
    server._policy.put_binding(binding("x", "Role all", "User eve"))

    assert not await refusal(server, Write(role("r", WRITE)))
    assert "clusterroles.rbac.authorization.k8s.io" in await refusal(
        server, Write(cluster_role("r", WRITE))
    )


async def test_roles_that_are_missing_are_told_with_a_refusal() -> None:
    server = Server(READ)
    server.bind("nope")

    assert (await refusal(server, Write(role("r", WRITE)))).endswith(
        '; resolution errors: [clusterroles.rbac.authorization.k8s.io "nope" not found]'
    )


async def test_too_many_rules_are_refused_without_counting_them() -> None:
    many = [f"w{number}" for number in range(2000)]
    huge = PolicyRule(verbs=many, api_groups=many, resources=many)

    refused = await refusal(Server(READ), Write(role("r", huge)))

    assert refused.endswith("not currently held:\nsome of more than 20000 permissions")
    everything = rule("*", "*", groups="*")
    assert not await refusal(Server(everything), Write(role("r", huge)))


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

    assert await refusal(Server(everything), Write(aggregating())) == AGGREGATION
    plain = cluster_role("sum")
    assert await refusal(Server(everything), Write(plain, aggregating())) == AGGREGATION
    assert not await refusal(Server(everything, paths("*", "*")), Write(aggregating()))


async def test_a_binding_to_a_role_whose_rules_one_has() -> None:
    server = Server(READ)
    server.roles(cluster_role("reader", READ))

    assert not await refusal(server, Write(cluster_binding("b", "reader", "User bob")))
    assert not await refusal(server, Write(binding("b", "ClusterRole reader", "User bob")))


async def test_a_binding_to_a_role_with_more() -> None:
    server = Server(READ)
    server.roles(role("writer", WRITE))

    assert await refusal(server, Write(binding("b", "Role writer", "User bob"))) == (
        'rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "eve" (groups=["devs"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}'
    )


@pytest.mark.parametrize(
    ("may", "write"),
    [
        ("eve bind roles ns writer", Write(binding("b", "Role writer", "User bob"))),
        ("eve bind clusterroles ns writer", Write(binding("b", "ClusterRole writer"))),
        ("eve bind clusterroles - writer", Write(cluster_binding("b", "writer", "User bob"))),
    ],
)
async def test_who_may_bind_a_role_does_even_if_there_is_none(may: str, write: Write) -> None:
    assert not await refusal(Server(may=may), write)


async def test_a_binding_to_a_role_that_is_not_there() -> None:
    with pytest.raises(NotFound) as caught:
        await EscalationCheck(Server(READ))(Write(binding("b", "Role nope", "User bob")))

    assert caught.value.message == 'roles.rbac.authorization.k8s.io "nope" not found'


@pytest.mark.parametrize(
    "write", [Write(binding("b", "Rolex x")), Write(binding("b", "Role x", namespace=""))]
)
async def test_what_cannot_be_is_left_to_validation(write: Write) -> None:
    assert not await refusal(Server(), write)
