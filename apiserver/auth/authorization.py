"""Authorization: the authorizer interface, and Kubernetes' messages for forbidden requests.

The attributes of a request are a RequestInfo, whether they come from a URL or from an access
review. An authorizer allows, denies, or has no opinion, which counts as a denial.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from apimachinery.errors import Forbidden
from apimachinery.fieldpath import quote
from apimachinery.schema import GroupResource
from apiserver.auth.user import User
from apiserver.http.request_info import RequestInfo


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of an authorizer; neither allowed nor denied means no opinion."""

    allowed: bool
    reason: str = ""
    denied: bool = False


NO_OPINION: Final = Decision(False)
ALLOWED: Final = Decision(True)


@dataclass(frozen=True, slots=True)
class Rule:
    """A permission: *verbs* on *resources* of *groups*, or on *paths*."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """If not empty, the permission covers only the objects with these names."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The permissions of a user; *error* is the reason if they may be incomplete."""

    granted: tuple[Rule, ...] = ()
    error: str = ""


EVERYTHING: Final = Rules(
    (Rule(("*",), groups=("*",), resources=("*",)), Rule(("*",), paths=("*",)))
)


class Authorizer(Protocol):
    """Decides what a user may do."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision: ...

    async def rules(self, user: User, namespace: str) -> Rules:
        """Return the permissions of *user* in *namespace*, for SelfSubjectRulesReviews."""


class AlwaysAllow:
    """Allows every request of every user."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        return ALLOWED

    async def rules(self, user: User, namespace: str) -> Rules:
        return EVERYTHING


async def require(authorizer: Authorizer, user: User, attributes: RequestInfo) -> None:
    """Raise Forbidden, with Kubernetes' message, unless *user* is authorized."""
    decision = await authorizer.authorize(user, attributes)
    if not decision.allowed:
        raise forbidden(user, attributes, decision.reason)


def forbidden(user: User, attributes: RequestInfo, reason: str = "") -> Forbidden:
    """Return the error for a request that is not authorized."""
    message = forbidden_message(user, attributes)
    resource = GroupResource(attributes.group, attributes.resource)
    return Forbidden.of(resource, attributes.name, f"{message}: {reason}" if reason else message)


def forbidden_message(user: User, attributes: RequestInfo) -> str:
    """Return Kubernetes' message for a forbidden request, escaped for HTML."""
    subject, verb = f"User {quote(user.name)}", attributes.verb
    if not attributes.is_resource:
        return _escape_html(f"{subject} cannot {verb} path {quote(attributes.path)}")
    resource = attributes.resource
    if attributes.subresource:
        resource = f"{resource}/{attributes.subresource}"
    scope = "at the cluster scope"
    if attributes.namespace:
        scope = f"in the namespace {quote(attributes.namespace)}"
    target = f"resource {quote(resource)} in API group {quote(attributes.group)}"
    return _escape_html(f"{subject} cannot {verb} {target} {scope}")


def _escape_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
