"""May they: authorizers, and the words of a refusal.

What is asked for is a RequestInfo, whether it came from a URL or from an access review. An
authorizer allows, denies for good, or has no opinion; the first that has one decides, and where
none has, the answer is no.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from apimachinery.errors import Forbidden
from apimachinery.fieldpath import quote
from apimachinery.schema import GroupResource
from apiserver.auth.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED, User
from apiserver.request import RequestInfo


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


class PrivilegedGroups:
    """Members of these groups may do everything."""

    def __init__(self, *groups: str) -> None:
        self._groups = frozenset(groups or (MASTERS,))

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        return NO_OPINION if self._groups.isdisjoint(user.groups) else ALLOWED

    async def rules(self, user: User, namespace: str) -> Rules:
        return Rules() if self._groups.isdisjoint(user.groups) else EVERYTHING


class AlwaysAllow:
    """Everybody may do everything."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        return ALLOWED

    async def rules(self, user: User, namespace: str) -> Rules:
        return EVERYTHING


_PUBLIC_INFO: Final = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY: Final = (
    *_PUBLIC_INFO,
    *("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"),
)
_GROUP_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    AUTHENTICATED: _DISCOVERY,
    UNAUTHENTICATED: _PUBLIC_INFO,
}
_SELF_REVIEWS: Final = frozenset(
    (
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
    )
)


class BasicAccess:
    """What every Kubernetes gives to everyone: health and version, and to whoever is known also
    discovery and questions about themselves. Where there are roles, they give it."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        if attributes.is_resource:
            asks_about_self = (
                attributes.verb == "create"
                and AUTHENTICATED in user.groups
                and not attributes.subresource
                and (attributes.group, attributes.resource) in _SELF_REVIEWS
            )
            return ALLOWED if asks_about_self else NO_OPINION
        if attributes.verb != "get":
            return NO_OPINION
        readable = any(_fits(attributes.path, path) for path in _paths(user))
        return ALLOWED if readable else NO_OPINION

    async def rules(self, user: User, namespace: str) -> Rules:
        rules = [Rule(("get",), paths=tuple(paths))] if (paths := _paths(user)) else []
        if AUTHENTICATED in user.groups:
            rules += [
                Rule(("create",), groups=(group,), resources=(resource,))
                for group, resource in sorted(_SELF_REVIEWS)
            ]
        return Rules(tuple(rules))


def default_authorizer() -> Authorizer:
    """Who may do what on a server that has no roles."""
    return Union((PrivilegedGroups(MASTERS), BasicAccess()))


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


def _paths(user: User) -> list[str]:
    return [path for group in user.groups for path in _GROUP_PATHS.get(group, ())]


def _fits(path: str, pattern: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
