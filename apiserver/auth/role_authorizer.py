"""RoleAuthorizer: decides by roles and bindings, from memory.

What roles mean is the business of their group; here is how a decision gets made of it. An
allowed request costs some look-ups and nothing that waits. Before it says no it makes sure that it
has seen every role and binding there is: whoever was given a role a moment ago, through another
worker perhaps, is not turned away. What was taken away is noticed when the cache notices it.
"""

from collections.abc import Sequence
from typing import Protocol

from apiserver.auth.authorization import ALLOWED, NO_OPINION, Decision, Rule, Rules
from apiserver.auth.user import MASTERS, User
from apiserver.http.request_info import RequestInfo


class RuleLike(Protocol):
    """One rule of a role."""

    @property
    def verbs(self) -> Sequence[str]: ...
    @property
    def api_groups(self) -> Sequence[str]: ...
    @property
    def resources(self) -> Sequence[str]: ...
    @property
    def resource_names(self) -> Sequence[str]: ...
    @property
    def non_resource_urls(self) -> Sequence[str]: ...


class Policy(Protocol):
    """What all roles and bindings together say."""

    def allowed_by(self, user: User, request: RequestInfo) -> str | None:
        """What lets *user* do it, in words; None if nothing does."""

    def rules_of(self, user: User, namespace: str) -> Sequence[RuleLike]: ...

    def problems(self, user: User, namespace: str) -> str:
        """What is wrong with what is bound to *user*; empty if nothing is."""


class Source(Protocol):
    """Where roles and bindings come from; it tells the policy."""

    def catch_up(self) -> bool:
        """Take what has changed; whether anything has."""

    async def refresh(self) -> bool:
        """Take everything that is stored by now; whether anything has changed."""


class RoleAuthorizer:
    """Allows what the roles of a user allow; `system:masters` may do everything.

    It knows no roles before `follow` has given it sources.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._sources: tuple[Source, ...] = ()

    def follow(self, sources: Sequence[Source]) -> None:
        """Decide by what comes from *sources* from now on."""
        self._sources = tuple(sources)

    def catch_up(self) -> None:
        """Take what the watch cache has seen by now."""
        for source in self._sources:
            source.catch_up()

    async def refresh(self) -> bool:
        """Take everything that is stored by now; whether that was news."""
        if not self._sources:
            return False
        first, *others = self._sources
        # One cache serves them all: once it has come far enough for one, it has for the rest.
        news = [await first.refresh(), *(source.catch_up() for source in others)]
        return any(news)

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        if MASTERS in user.groups:
            return ALLOWED
        self.catch_up()
        reason = self._policy.allowed_by(user, attributes)
        if reason is None and await self.refresh():
            reason = self._policy.allowed_by(user, attributes)
        if reason is not None:
            return Decision(True, f"RBAC: allowed by {reason}")
        problems = self._policy.problems(user, attributes.namespace)
        return Decision(False, f"RBAC: {problems}") if problems else NO_OPINION

    async def rules(self, user: User, namespace: str) -> Rules:
        await self.refresh()
        found = tuple(_rule(rule) for rule in self._policy.rules_of(user, namespace))
        return Rules(found, self._policy.problems(user, namespace))


def _rule(rule: RuleLike) -> Rule:
    return Rule(
        tuple(rule.verbs),
        groups=tuple(rule.api_groups),
        resources=tuple(rule.resources),
        paths=tuple(rule.non_resource_urls),
        names=tuple(rule.resource_names),
    )
