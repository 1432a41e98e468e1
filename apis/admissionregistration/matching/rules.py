"""Rules: the operations and resources for which a webhook or a policy is called.

Whether rules match does not depend on the object, so the answer can be kept for all requests with
the same `Target`. With the match policy Equivalent, a rule also matches the other versions of the
resource of a request; the object is then shown in the version that the rule names.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from apimachinery.schema import GroupVersionResource
from apis.admissionregistration import GROUP
from apis.admissionregistration.v1.rules import ALL, CLUSTER_SCOPE, EQUIVALENT, NAMESPACED_SCOPE
from apiserver.served_versions import ServedVersion

EXEMPT_RESOURCES: Final = frozenset(
    (
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    )
)
"""Resources of this group that no webhook and no policy sees: it could forbid its own removal."""
_REVIEWS: Final = frozenset(
    (
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
    )
)


@dataclass(frozen=True, slots=True)
class Target:
    """What rules are about: the operation and the resource of a write."""

    operation: str
    resource: GroupVersionResource
    subresource: str
    namespaced: bool
    """Whether the object is in a namespace; a Namespace is not."""


class RuleSource(Protocol):
    """The fields of the API types `RuleWithOperations` and `NamedRuleWithOperations`."""

    operations: list[str]
    api_groups: list[str]
    api_versions: list[str]
    resources: list[str]
    scope: str | None


@dataclass(frozen=True, slots=True)
class MatchRule:
    """One rule, compiled; None stands for everything."""

    operations: frozenset[str] | None
    groups: frozenset[str] | None
    versions: frozenset[str] | None
    resources: tuple[tuple[str, str], ...]
    """Pairs of a resource and a subresource, each of which may be `*`."""
    scope: str
    names: frozenset[str] | None = None
    """The names of objects, for rules of policies."""

    def matches(self, target: Target, resource: GroupVersionResource) -> bool:
        """Return whether the rule matches *target* as a request for *resource*, of any name."""
        return (
            _has(self.operations, target.operation)
            and _has(self.groups, resource.group)
            and _has(self.versions, resource.version)
            and self._has_scope(target)
            and self._has_resource(resource.resource, target.subresource)
        )

    def has_name(self, name: str) -> bool:
        return _has(self.names, name)

    def _has_scope(self, target: Target) -> bool:
        if self.scope == NAMESPACED_SCOPE:
            return target.namespaced
        return not target.namespaced if self.scope == CLUSTER_SCOPE else self.scope == ALL

    def _has_resource(self, resource: str, subresource: str) -> bool:
        return any(
            own in (ALL, resource) and below in (ALL, subresource) for own, below in self.resources
        )


def compile_rule(source: RuleSource) -> MatchRule:
    """Compile a rule of a webhook or of a policy."""
    names = getattr(source, "resource_names", ())
    return MatchRule(
        _choice(source.operations),
        _choice(source.api_groups),
        _choice(source.api_versions),
        tuple(_split(text) for text in source.resources),
        source.scope or ALL,
        frozenset(names) if names else None,
    )


def is_exempt(resource: GroupVersionResource) -> bool:
    """Return whether neither webhooks nor policies see writes of a resource.

    They are the configurations of admission themselves, and reviews, which are never stored.
    """
    if resource.group == GROUP:
        return resource.resource in EXEMPT_RESOURCES
    return (resource.group, resource.resource) in _REVIEWS


def find_match(
    rules: Sequence[MatchRule],
    target: Target,
    own: ServedVersion,
    *,
    match_policy: str | None,
    equivalents: Callable[[], Sequence[ServedVersion]],
    name: str | None = None,
) -> ServedVersion | None:
    """Return the version in which the first matching rule sees a write, None if none matches.

    *own* is the version of the request, which is preferred. *name* is compared with the names of
    rules; None matches all.
    """

    def matches(rule: MatchRule, version: ServedVersion) -> bool:
        return rule.matches(target, version.resource) and (name is None or rule.has_name(name))

    if any(matches(rule, own) for rule in rules):
        return own
    if match_policy != EQUIVALENT:
        return None
    others = [version for version in equivalents() if version.resource != own.resource]
    return next((v for rule in rules for v in others if matches(rule, v)), None)


def _choice(values: Sequence[str]) -> frozenset[str] | None:
    return None if ALL in values else frozenset(values)


def _has(choice: frozenset[str] | None, value: str) -> bool:
    return choice is None or value in choice


def _split(text: str) -> tuple[str, str]:
    resource, _, subresource = text.partition("/")
    return resource, subresource
