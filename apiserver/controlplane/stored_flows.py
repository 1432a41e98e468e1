"""StoredFlows: the stored FlowSchemas and PriorityLevelConfigurations, for the dispatcher.

Every worker follows them through its watch cache, so a change takes effect in all of them.
"""

from collections.abc import Callable, Iterable
from typing import Final

from apimachinery.schema import GroupResource
from apis.flowcontrol import GROUP
from apis.flowcontrol.v1 import (
    FlowSchema,
    NonResourcePolicyRule,
    PolicyRulesWithSubjects,
    PriorityLevelConfiguration,
    QueuingConfiguration,
    ResourcePolicyRule,
    Subject,
)
from apis.flowcontrol.v1.flow_schema import ALL
from apis.flowcontrol.v1.priority_level import EXEMPT_TYPE
from apiserver.auth.user import service_account_username
from apiserver.fairness.flow_configuration import (
    FlowRule,
    LevelConfiguration,
    PathRule,
    Queuing,
    ResourceMatch,
    SchemaConfiguration,
    Subjects,
)
from apiserver.fairness.work_estimation import ObjectCount
from apiserver.http.request_info import RequestInfo
from apiserver.install import Groups
from apiserver.registry.following import Following

SCHEMAS: Final = GroupResource(GROUP, "flowschemas")
LEVELS: Final = GroupResource(GROUP, "prioritylevelconfigurations")


class StoredFlows:
    """Follows the stored schemas and levels."""

    def __init__(self, groups: Groups) -> None:
        self._schemas: dict[str, SchemaConfiguration] = {}
        self._levels: dict[str, LevelConfiguration] = {}
        self._sources = (
            Following(
                groups.store(LEVELS),
                self._put_level,
                self._forget_level,
                prepare=level_configuration,
            ),
            Following(
                groups.store(SCHEMAS),
                self._put_schema,
                self._forget_schema,
                prepare=schema_configuration,
            ),
        )

    @property
    def schemas(self) -> Iterable[SchemaConfiguration]:
        return self._schemas.values()

    @property
    def levels(self) -> Iterable[LevelConfiguration]:
        return self._levels.values()

    @property
    def is_current(self) -> bool:
        levels, schemas = self._sources
        return levels.is_current and schemas.is_current

    async def catch_up(self) -> None:
        for source in self._sources:
            await source.catch_up()

    def _put_level(self, level: LevelConfiguration) -> None:
        self._levels[level.name] = level

    def _forget_level(self, namespace: str, name: str) -> None:
        self._levels.pop(name, None)

    def _put_schema(self, schema: SchemaConfiguration) -> None:
        self._schemas[schema.name] = schema

    def _forget_schema(self, namespace: str, name: str) -> None:
        self._schemas.pop(name, None)


def object_count(groups: Callable[[], Groups]) -> ObjectCount:
    """Return a function that counts the objects that a list examines."""

    def count(info: RequestInfo) -> int:
        try:
            store = groups().store(GroupResource(info.group, info.resource))
        except KeyError:
            return 0
        return store.cached.collection.count(info.namespace)

    return count


def level_configuration(level: PriorityLevelConfiguration) -> LevelConfiguration:
    """Translate a stored level."""
    spec, metadata = level.spec, level.metadata
    limited, exempt = spec.limited, spec.exempt
    if limited is None:
        return LevelConfiguration(
            metadata.name,
            metadata.uid,
            exempt=spec.type == EXEMPT_TYPE,
            shares=(exempt.nominal_concurrency_shares or 0) if exempt else 0,
            lendable_percent=(exempt.lendable_percent or 0) if exempt else 0,
        )
    queuing = limited.limit_response.queuing
    return LevelConfiguration(
        metadata.name,
        metadata.uid,
        shares=limited.nominal_concurrency_shares or 0,
        lendable_percent=limited.lendable_percent or 0,
        borrowing_percent=limited.borrowing_limit_percent,
        queuing=_queuing(queuing) if queuing is not None else None,
    )


def _queuing(queuing: QueuingConfiguration) -> Queuing:
    return Queuing(queuing.queues, queuing.hand_size, queuing.queue_length_limit)


def schema_configuration(schema: FlowSchema) -> SchemaConfiguration:
    """Translate a stored schema."""
    spec = schema.spec
    return SchemaConfiguration(
        schema.metadata.name,
        spec.priority_level_configuration.name,
        spec.matching_precedence,
        uid=schema.metadata.uid,
        distinguisher=spec.distinguisher_method.type if spec.distinguisher_method else "",
        rules=tuple(map(_flow_rule, spec.rules)),
    )


def _flow_rule(rules: PolicyRulesWithSubjects) -> FlowRule:
    return FlowRule(
        _subjects(rules.subjects),
        tuple(map(_resource_rule, rules.resource_rules)),
        tuple(map(_path_rule, rules.non_resource_rules)),
    )


def _subjects(subjects: Iterable[Subject]) -> Subjects:
    users, groups, prefixes = set(), set(), []
    for subject in subjects:
        if subject.user is not None:
            users.add(subject.user.name)
        if subject.group is not None:
            groups.add(subject.group.name)
        account = subject.service_account
        if account is not None and account.name == ALL:
            prefixes.append(service_account_username(account.namespace, ""))
        elif account is not None:
            users.add(service_account_username(account.namespace, account.name))
    return Subjects(frozenset(users), frozenset(groups), tuple(prefixes))


def _resource_rule(rule: ResourcePolicyRule) -> ResourceMatch:
    return ResourceMatch(
        frozenset(rule.verbs),
        frozenset(rule.api_groups),
        frozenset(rule.resources),
        frozenset(rule.namespaces),
        rule.cluster_scope,
    )


def _path_rule(rule: NonResourcePolicyRule) -> PathRule:
    return PathRule(frozenset(rule.verbs), tuple(rule.non_resource_urls))
