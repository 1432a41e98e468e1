"""RoleAuthorizer: authorize requests by roles and bindings, from memory.

To allow a request takes a few look-ups and no waiting. Before it refuses one, the authorizer makes
sure that it has seen every stored role and binding, so that a user is not turned away whose role
was granted a moment ago through another worker. A revoked role takes effect when the watch cache
receives the change.
"""

from collections.abc import Sequence

from apis.rbac.policy import Policy
from apis.rbac.v1 import PolicyRule
from apiserver.auth.authorization import ALLOWED, NO_OPINION, Decision, Rule, Rules
from apiserver.auth.user import MASTERS, User
from apiserver.http.request_info import RequestInfo
from apiserver.registry.following import Following
from apiserver.time_slices import TimeSlices


class RoleAuthorizer:
    """Allows what the roles of a user allow; `system:masters` may do everything.

    The policy is empty until `follow` is called.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._sources: tuple[Following, ...] = ()

    def follow(self, sources: Sequence[Following]) -> None:
        """Keep the policy up to date from *sources*, which put roles and bindings into it."""
        self._sources = tuple(sources)

    async def catch_up(self) -> None:
        """Bring the policy to the state of the watch cache."""
        for source in self._sources:
            if not source.is_current:
                await source.catch_up()

    async def refresh(self) -> bool:
        """Bring the policy to the newest stored state; return whether it has changed."""
        if not self._sources:
            return False
        first, *others = self._sources
        # One cache serves all sources: once it has caught up for one, it has for the rest.
        changes = [await first.refresh()]
        changes += [await source.catch_up() for source in others]
        return any(changes)

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        if MASTERS in user.groups:
            return ALLOWED
        await self.catch_up()
        reason = self._policy.allowed_by(user, attributes)
        if reason is None and await self.refresh():
            reason = self._policy.allowed_by(user, attributes)
        if reason is not None:
            return Decision(True, f"RBAC: allowed by {reason}")
        problems = self._policy.problems(user, attributes.namespace)
        return Decision(False, f"RBAC: {problems}") if problems else NO_OPINION

    async def rules(self, user: User, namespace: str) -> Rules:
        await self.refresh()
        rules, time = [], TimeSlices()
        for rule in self._policy.rules_of(user, namespace):
            rules.append(_rule(rule))
            await time.yield_loop()
        return Rules(tuple(rules), self._policy.problems(user, namespace))


def _rule(rule: PolicyRule) -> Rule:
    return Rule(
        tuple(rule.verbs),
        groups=tuple(rule.api_groups),
        resources=tuple(rule.resources),
        paths=tuple(rule.non_resource_urls),
        names=tuple(rule.resource_names),
    )
