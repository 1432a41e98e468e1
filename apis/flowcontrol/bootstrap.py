"""Bootstrap schemas and levels: the mandatory ones, and those that are suggested for a start.

The mandatory objects cannot be changed, so that every request has a level, and administrators are
never refused. The suggested ones keep apart the requests of nodes, of controllers, of service
accounts and of everybody else; an administrator may change or replace them.
"""

from collections.abc import Sequence
from typing import Final

from apimachinery.meta.types import ObjectMeta
from apis.flowcontrol.v1 import (
    ExemptPriorityLevelConfiguration,
    FlowDistinguisherMethod,
    FlowSchema,
    FlowSchemaSpec,
    GroupSubject,
    LimitedPriorityLevelConfiguration,
    LimitResponse,
    NonResourcePolicyRule,
    PolicyRulesWithSubjects,
    PriorityLevelConfiguration,
    PriorityLevelConfigurationReference,
    PriorityLevelConfigurationSpec,
    QueuingConfiguration,
    ResourcePolicyRule,
    ServiceAccountSubject,
    Subject,
    UserSubject,
)
from apis.flowcontrol.v1.flow_schema import (
    ALL,
    BY_NAMESPACE,
    BY_USER,
    CATCH_ALL,
    EXEMPT,
    GROUP_KIND,
    SERVICE_ACCOUNT,
    USER,
)
from apis.flowcontrol.v1.priority_level import EXEMPT_TYPE, LIMITED, QUEUE, REJECT

AUTOUPDATE: Final = "apf.kubernetes.io/autoupdate-spec"
"""Annotation: "true" if the server may replace the spec of an object by that of its release."""

_MASTERS: Final = "system:masters"
_EVERYBODY: Final = ("system:unauthenticated", "system:authenticated")
_NODES: Final = "system:nodes"
_SERVICE_ACCOUNTS: Final = "system:serviceaccounts"
_CONTROLLER_MANAGER: Final = "system:kube-controller-manager"
_SCHEDULER: Final = "system:kube-scheduler"
_COORDINATION: Final = "coordination.k8s.io"
_PROBES: Final = ("/healthz", "/readyz", "/livez")


def mandatory_levels() -> list[PriorityLevelConfiguration]:
    """Return the levels that always exist."""
    exempt = ExemptPriorityLevelConfiguration(nominal_concurrency_shares=0, lendable_percent=0)
    return [
        _level(CATCH_ALL, _limited(5, 0)),
        _level(EXEMPT, PriorityLevelConfigurationSpec(type=EXEMPT_TYPE, exempt=exempt)),
    ]


def mandatory_schemas() -> list[FlowSchema]:
    """Return the schemas that always exist."""
    return [
        _schema(EXEMPT, EXEMPT, 1, "", [_everything(_groups(_MASTERS))]),
        _schema(CATCH_ALL, CATCH_ALL, 10000, BY_USER, [_everything(_groups(*_EVERYBODY))]),
    ]


def suggested_levels() -> list[PriorityLevelConfiguration]:
    """Return the levels of a new server."""
    return [
        _level("system", _limited(30, 33, queues=64)),
        _level("node-high", _limited(40, 25, queues=64)),
        _level("leader-election", _limited(10, 0, queues=16, hand_size=4)),
        _level("workload-high", _limited(40, 50, queues=128)),
        _level("workload-low", _limited(100, 90, queues=128)),
        _level("global-default", _limited(20, 50, queues=128)),
    ]


def suggested_schemas() -> list[FlowSchema]:
    """Return the schemas of a new server, by precedence."""
    system_accounts = _accounts("kube-system", ALL)
    electors = [*_users(_CONTROLLER_MANAGER, _SCHEDULER), *system_accounts]
    nodes = _groups(_NODES)
    leases = ResourcePolicyRule(
        verbs=["get", "create", "update"],
        api_groups=[_COORDINATION],
        resources=["leases"],
        namespaces=[ALL],
    )
    return [
        _schema("probes", EXEMPT, 2, "", [_probes()]),
        _schema(
            "system-leader-election",
            "leader-election",
            100,
            BY_USER,
            [PolicyRulesWithSubjects(subjects=electors, resource_rules=[leases])],
        ),
        _schema("system-node-high", "node-high", 400, BY_USER, [_node_status(nodes)]),
        _schema("system-nodes", "system", 500, BY_USER, [_everything(nodes)]),
        _schema(
            "kube-controller-manager",
            "workload-high",
            800,
            BY_NAMESPACE,
            [_everything(_users(_CONTROLLER_MANAGER))],
        ),
        _schema(
            "kube-scheduler", "workload-high", 800, BY_NAMESPACE, [_everything(_users(_SCHEDULER))]
        ),
        _schema(
            "kube-system-service-accounts",
            "workload-high",
            900,
            BY_NAMESPACE,
            [_everything(system_accounts)],
        ),
        _schema(
            "service-accounts",
            "workload-low",
            9000,
            BY_USER,
            [_everything(_groups(_SERVICE_ACCOUNTS))],
        ),
        _schema(
            "global-default",
            "global-default",
            9900,
            BY_USER,
            [_everything(_groups(*_EVERYBODY))],
        ),
    ]


def _level(name: str, spec: PriorityLevelConfigurationSpec) -> PriorityLevelConfiguration:
    return PriorityLevelConfiguration(metadata=_metadata(name), spec=spec)


def _schema(
    name: str,
    level: str,
    precedence: int,
    distinguisher: str,
    rules: list[PolicyRulesWithSubjects],
) -> FlowSchema:
    return FlowSchema(
        metadata=_metadata(name),
        spec=FlowSchemaSpec(
            priority_level_configuration=PriorityLevelConfigurationReference(name=level),
            matching_precedence=precedence,
            distinguisher_method=(
                FlowDistinguisherMethod(type=distinguisher) if distinguisher else None
            ),
            rules=rules,
        ),
    )


def _metadata(name: str) -> ObjectMeta:
    return ObjectMeta(name=name, annotations={AUTOUPDATE: "true"})


def _limited(
    shares: int, lendable: int, *, queues: int = 0, hand_size: int = 6
) -> PriorityLevelConfigurationSpec:
    """Return the spec of a limited level; without queues it rejects requests."""
    response = LimitResponse(type=REJECT)
    if queues:
        queuing = QueuingConfiguration(queues=queues, hand_size=hand_size, queue_length_limit=50)
        response = LimitResponse(type=QUEUE, queuing=queuing)
    return PriorityLevelConfigurationSpec(
        type=LIMITED,
        limited=LimitedPriorityLevelConfiguration(
            nominal_concurrency_shares=shares, lendable_percent=lendable, limit_response=response
        ),
    )


def _everything(subjects: Sequence[Subject]) -> PolicyRulesWithSubjects:
    return PolicyRulesWithSubjects(
        subjects=list(subjects),
        resource_rules=[_all_of([ALL], [ALL])],
        non_resource_rules=[NonResourcePolicyRule(verbs=[ALL], non_resource_urls=[ALL])],
    )


def _node_status(subjects: Sequence[Subject]) -> PolicyRulesWithSubjects:
    nodes = _all_of([""], ["nodes", "nodes/status"])
    leases = _all_of([_COORDINATION], ["leases"], cluster_scope=False)
    return PolicyRulesWithSubjects(subjects=list(subjects), resource_rules=[nodes, leases])


def _probes() -> PolicyRulesWithSubjects:
    probes = NonResourcePolicyRule(verbs=["get"], non_resource_urls=list(_PROBES))
    return PolicyRulesWithSubjects(subjects=_groups(*_EVERYBODY), non_resource_rules=[probes])


def _all_of(
    groups: list[str], resources: list[str], *, cluster_scope: bool = True
) -> ResourcePolicyRule:
    return ResourcePolicyRule(
        verbs=[ALL],
        api_groups=groups,
        resources=resources,
        cluster_scope=cluster_scope,
        namespaces=[ALL],
    )


def _groups(*names: str) -> list[Subject]:
    return [Subject(kind=GROUP_KIND, group=GroupSubject(name=name)) for name in names]


def _users(*names: str) -> list[Subject]:
    return [Subject(kind=USER, user=UserSubject(name=name)) for name in names]


def _accounts(namespace: str, *names: str) -> list[Subject]:
    return [
        Subject(
            kind=SERVICE_ACCOUNT,
            service_account=ServiceAccountSubject(namespace=namespace, name=name),
        )
        for name in names
    ]
