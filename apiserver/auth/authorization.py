"""May they: authorizers, and the words of a refusal.

What is asked for is a RequestInfo, whether it came from a URL or from an access review. An
authorizer allows, denies for good, or has no opinion; the first that has one decides, and where
none has, the answer is no.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from apimachinery.errors import Forbidden
from apimachinery.fieldpath import quote
from apimachinery.schema import GroupResource
from apiserver.auth.user import User
from apiserver.http.request_info import RequestInfo


@dataclass(frozen=True, slots=True)
class Decision:
    """What an authorizer says; neither allowed nor denied is no opinion."""

    allowed: bool
    reason: str = ""
    denied: bool = False


NO_OPINION: Final = Decision(False)
ALLOWED: Final = Decision(True)


@dataclass(frozen=True, slots=True)
class Rule:
    """What somebody may do: *verbs* on *resources* of *groups*, or on *paths*."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Only these objects, if any."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What somebody may do, as far as it is known; *error* says why there may be more."""

    found: tuple[Rule, ...] = ()
    error: str = ""


EVERYTHING: Final = Rules(
    (Rule(("*",), groups=("*",), resources=("*",)), Rule(("*",), paths=("*",)))
)


class Authorizer(Protocol):
    """Decides what a user may do."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision: ...

    async def rules(self, user: User, namespace: str) -> Rules:
        """What *user* may do in *namespace*, for those who want to see it all."""


class Union:
    """The first authorizer with an opinion decides; the reasons of the others are kept."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        reasons = []
        for authorizer in self._authorizers:
            decision = await authorizer.authorize(user, attributes)
            if decision.allowed or decision.denied:
                return decision
            if decision.reason:
                reasons.append(decision.reason)
        return Decision(False, "\n".join(reasons)) if reasons else NO_OPINION

    async def rules(self, user: User, namespace: str) -> Rules:
        found = [await each.rules(user, namespace) for each in self._authorizers]
        errors = [rules.error for rules in found if rules.error]
        return Rules(tuple(rule for rules in found for rule in rules.found), "\n".join(errors))


class AlwaysAllow:
    """Everybody may do everything."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        return ALLOWED

    async def rules(self, user: User, namespace: str) -> Rules:
        return EVERYTHING


async def require(authorizer: Authorizer, user: User, attributes: RequestInfo) -> None:
    """Return if *user* may, or raise Forbidden as Kubernetes words it."""
    decision = await authorizer.authorize(user, attributes)
    if not decision.allowed:
        raise forbidden(user, attributes, decision.reason)


def forbidden(user: User, attributes: RequestInfo, reason: str = "") -> Forbidden:
    """The refusal of a request, about the object it names."""
    message = forbidden_message(user, attributes)
    resource = GroupResource(attributes.group, attributes.resource)
    return Forbidden.of(resource, attributes.name, f"{message}: {reason}" if reason else message)


def forbidden_message(user: User, attributes: RequestInfo) -> str:
    """What *user* may not do, in Kubernetes' words; safe to be shown by a browser."""
    who, verb = f"User {quote(user.name)}", attributes.verb
    if not attributes.is_resource:
        return _escaped(f"{who} cannot {verb} path {quote(attributes.path)}")
    resource = attributes.resource
    if attributes.subresource:
        resource = f"{resource}/{attributes.subresource}"
    where = "at the cluster scope"
    if attributes.namespace:
        where = f"in the namespace {quote(attributes.namespace)}"
    what = f"resource {quote(resource)} in API group {quote(attributes.group)}"
    return _escaped(f"{who} cannot {verb} {what} {where}")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
