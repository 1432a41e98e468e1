"""Bootstrap roles and bindings that clients expect of every server.

`cluster-admin`, `admin`, `edit` and `view` are for people, the others for what every client needs.
`admin`, `edit` and `view` are aggregated from roles with a label, so the resources of another group
join them by a role with that label; for groups that are served from the start the server writes
such roles itself. A server with every kind of Kubernetes has all its default roles.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from apimachinery.meta.types import LabelSelector
from apis.rbac import GROUP
from apis.rbac.aggregation import aggregated_rules
from apis.rbac.default_metadata import aggregation_label, default_metadata
from apis.rbac.kubernetes_roles import component_bindings, component_roles
from apis.rbac.kubernetes_rules import EDITED, EVICTION, USED, VIEWED, ruled_groups
from apis.rbac.rule_texts import READ, READ_WRITE, WRITE
from apis.rbac.v1 import (
    AggregationRule,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    RoleRef,
    Subject,
)
from apis.rbac.v1.types import ALL, CLUSTER_ROLE, GROUP_KIND

ADMIN, EDIT, VIEW = "admin", "edit", "view"

_PUBLIC: Final = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY: Final = ("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*")
_HEALTH: Final = ("/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*")
_ISSUER: Final = (
    *("/.well-known/openid-configuration", "/.well-known/openid-configuration/"),
    *("/openid/v1/jwks", "/openid/v1/jwks/"),
)
_METRICS: Final = ("/metrics", "/metrics/slis")
_AUTHENTICATED, _UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"


class Offer(NamedTuple):
    """A resource beyond the standard groups, and which of `view` and `edit` include it."""

    group: str
    resource: str
    readable_parts: tuple[str, ...] = ()
    """Subresources that readers may read."""
    writable_parts: tuple[str, ...] = ()
    """Subresources that writers may write."""
    roles: tuple[str, ...] = (VIEW, EDIT)


def has_every_kind(offers: Iterable[Offer]) -> bool:
    """Return whether a server has all of Kubernetes' groups, and so roles for its components."""
    return set(VIEWED) == set(ruled_groups({offer.group for offer in offers}))


def bootstrap_roles(offers: Iterable[Offer] = ()) -> list[ClusterRole]:
    """Return the cluster roles; those that are aggregated have their rules already."""
    offered = list(offers)
    groups = list(ruled_groups({offer.group for offer in offered}))
    others = [offer for offer in offered if offer.group not in groups]
    general = {role.metadata.name: role for role in (*_general_roles(), *_aggregate_to(groups))}
    if has_every_kind(offered):
        general |= {role.metadata.name: role for role in component_roles()}
    plain = [*general.values(), *_offered_roles(others)]
    view = _aggregated(VIEW, into=(EDIT,))
    edit = _aggregated(EDIT, into=(ADMIN,))
    admin = _aggregated(ADMIN)
    roles = [*plain, view, edit, admin]
    for role in (view, edit, admin):
        role.rules = aggregated_rules(role, roles)
    return roles


def bootstrap_bindings(*, every_kind: bool = False) -> list[ClusterRoleBinding]:
    """Return the bindings, each named like its role: of components on a server with every kind."""
    return [
        _binding("cluster-admin", "system:masters"),
        _binding("system:basic-user", _AUTHENTICATED),
        _binding("system:discovery", _AUTHENTICATED),
        _binding("system:monitoring", "system:monitoring"),
        _binding("system:public-info-viewer", _AUTHENTICATED, _UNAUTHENTICATED),
        _binding("system:service-account-issuer-discovery", "system:serviceaccounts"),
        *(component_bindings() if every_kind else ()),
    ]


def _general_roles() -> Iterator[ClusterRole]:
    authentication, authorization = "authentication.k8s.io", "authorization.k8s.io"
    yield _role("cluster-admin", _on((ALL,), ALL, ALL), _at(ALL, verb=ALL))
    yield _role(
        "system:auth-delegator",
        _on(("create",), authentication, "tokenreviews"),
        _on(("create",), authorization, "subjectaccessreviews"),
    )
    yield _role(
        "system:basic-user",
        _on(("create",), authorization, "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
        _on(("create",), authentication, "selfsubjectreviews"),
    )
    yield _role("system:discovery", _at(*_DISCOVERY, *_PUBLIC))
    yield _role("system:monitoring", _at(*_METRICS, *_HEALTH))
    yield _role("system:public-info-viewer", _at(*_PUBLIC))
    yield _role("system:service-account-issuer-discovery", _at(*_ISSUER))


def _aggregate_to(groups: Sequence[str]) -> Iterator[ClusterRole]:
    """Yield the parts of `view`, `edit` and `admin` that are about Kubernetes' groups.

    *groups* are those that a server has beyond the standard ones.
    """
    yield _role(
        "system:aggregate-to-view",
        _on(READ, "", "configmaps", "serviceaccounts", "services", "services/status"),
        _on(READ, "", "events", "namespaces/status"),
        _on(READ, "", "namespaces"),
        *(_on(READ, group, *VIEWED[group]) for group in groups),
        into=(VIEW,),
    )
    written = ("configmaps", "events", "secrets", "serviceaccounts", "services")
    yield _role(
        "system:aggregate-to-edit",
        _on(READ, "", "secrets"),
        _on(("impersonate",), "", "serviceaccounts"),
        _on(WRITE, "", *written),
        _on(("create",), "", "serviceaccounts/token"),
        _on(READ_WRITE, "coordination.k8s.io", "leases"),
        *(_on(WRITE, group, *EDITED[group]) for group in groups if group in EDITED),
        *((_on(READ_WRITE, "", *USED), _on(("create",), "", EVICTION)) if "" in groups else ()),
        into=(EDIT,),
    )
    yield _role(
        "system:aggregate-to-admin",
        _on(("create",), "authorization.k8s.io", "localsubjectaccessreviews"),
        _on(READ_WRITE, GROUP, "rolebindings", "roles"),
        into=(ADMIN,),
    )


def _offered_roles(offers: Iterable[Offer]) -> Iterator[ClusterRole]:
    by_group: dict[str, list[Offer]] = {}
    for offer in offers:
        by_group.setdefault(offer.group, []).append(offer)
    for group, offered in by_group.items():
        viewed = [offer for offer in offered if VIEW in offer.roles]
        edited = [offer for offer in offered if EDIT in offer.roles]
        hidden = [offer for offer in edited if offer not in viewed]
        if viewed:
            yield _role(
                f"{group or 'core'}:{VIEW}", _on(READ, group, *_readable(viewed)), into=(VIEW,)
            )
        if edited:
            rules = [_on(WRITE, group, *_writable(edited))]
            if hidden:
                rules.append(_on(READ, group, *_readable(hidden)))
            yield _role(f"{group or 'core'}:{EDIT}", *rules, into=(EDIT,))


def _readable(offers: Sequence[Offer]) -> list[str]:
    return [name for offer in offers for name in _parts(offer.resource, offer.readable_parts)]


def _writable(offers: Sequence[Offer]) -> list[str]:
    return [name for offer in offers for name in _parts(offer.resource, offer.writable_parts)]


def _parts(resource: str, parts: Iterable[str]) -> list[str]:
    return [resource, *(f"{resource}/{part}" for part in parts)]


def _role(name: str, *rules: PolicyRule, into: Iterable[str] = ()) -> ClusterRole:
    return ClusterRole(metadata=default_metadata(name, into=into), rules=list(rules))


def _aggregated(name: str, *, into: Iterable[str] = ()) -> ClusterRole:
    """Return a role that aggregates the roles with the label of its name."""
    selector = LabelSelector(match_labels={aggregation_label(name): "true"})
    return ClusterRole(
        metadata=default_metadata(name, into=into),
        aggregation_rule=AggregationRule(cluster_role_selectors=[selector]),
    )


def _binding(name: str, *groups: str) -> ClusterRoleBinding:
    return ClusterRoleBinding(
        metadata=default_metadata(name),
        role_ref=RoleRef(api_group=GROUP, kind=CLUSTER_ROLE, name=name),
        subjects=[Subject(kind=GROUP_KIND, api_group=GROUP, name=group) for group in groups],
    )


def _on(verbs: Iterable[str], group: str, *resources: str) -> PolicyRule:
    return PolicyRule(verbs=sorted(verbs), api_groups=[group], resources=sorted(resources))


def _at(*paths: str, verb: str = "get") -> PolicyRule:
    return PolicyRule(verbs=[verb], non_resource_urls=sorted(paths))
