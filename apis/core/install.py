"""The core group as every server installs it.

`install_full.py` describes the other resources of Kubernetes' core group.
"""

from dataclasses import replace
from typing import Final

from apis.core import GROUP, v1
from apis.core.admission.plugins import PLUGINS
from apis.core.allocation.where_served import AllocationWhereServed
from apis.core.printers import standard_kinds as printers
from apis.core.register import FIELDS, add_to_scheme
from apis.core.strategy import (
    ConfigMapStrategy,
    EventStrategy,
    NamespaceStrategy,
    SecretStrategy,
    ServiceAccountStrategy,
    ServiceStrategy,
    finalize,
)
from apis.core.tokens import KIND as TOKEN_REQUEST
from apis.core.tokens import TokenRequests
from apiserver import ALL_VERBS, STATUS, Group, Resource, ServerParts, Subresource

EVENT_TTL: Final = 60 * 60
"""Seconds after which the server deletes an event."""

FINALIZE: Final = Subresource("finalize", verbs=("update",), handle=finalize)

CONFIG_MAPS: Final = Resource(
    "configmaps",
    v1.ConfigMap,
    ConfigMapStrategy(),
    short_names=("cm",),
    columns=printers.CONFIG_MAP_COLUMNS,
)

EVENTS: Final = Resource(
    "events",
    v1.Event,
    EventStrategy(),
    short_names=("ev",),
    columns=printers.EVENT_COLUMNS,
    fields=FIELDS["Event"],
    ttl=lambda event: EVENT_TTL,
)

NAMESPACES: Final = Resource(
    "namespaces",
    v1.Namespace,
    NamespaceStrategy(),
    short_names=("ns",),
    namespaced=False,
    # As in Kubernetes: one request must not delete every namespace by accident.
    verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
    subresources=(FINALIZE, STATUS),
    columns=printers.NAMESPACE_COLUMNS,
    fields=FIELDS["Namespace"],
)

SECRETS: Final = Resource(
    "secrets",
    v1.Secret,
    SecretStrategy(),
    columns=printers.SECRET_COLUMNS,
    fields=FIELDS["Secret"],
)

SERVICE_ACCOUNTS: Final = Resource(
    "serviceaccounts",
    v1.ServiceAccount,
    ServiceAccountStrategy(),
    short_names=("sa",),
)

SERVICES: Final = Resource(
    "services",
    v1.Service,
    ServiceStrategy(),
    short_names=("svc",),
    categories=("all",),
    subresources=(STATUS,),
    columns=printers.SERVICE_COLUMNS,
    fields=FIELDS["Service"],
)


def complete_core(group: Group, parts: ServerParts) -> Group:
    """Return the group with what needs parts of the server: tokens, and allocation for services."""
    allocation = AllocationWhereServed(parts)
    group = with_tokens(group, parts)
    return replace(
        group,
        resources=tuple(
            replace(resource, allocation=allocation) if resource.cls is v1.Service else resource
            for resource in group.resources
        ),
    )


def with_tokens(group: Group, parts: ServerParts) -> Group:
    """Return the group with the token subresource of service accounts.

    It is added last because it signs with the keys of the server.
    """
    handle = TokenRequests(parts.accounts)
    token = Subresource("token", verbs=("create",), kind=TOKEN_REQUEST, handle=handle)
    return replace(
        group,
        resources=tuple(
            replace(resource, subresources=(*resource.subresources, token))
            if resource.cls is v1.ServiceAccount
            else resource
            for resource in group.resources
        ),
    )


CORE: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(CONFIG_MAPS, EVENTS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS, SERVICES),
    plugins=PLUGINS,
    complete=complete_core,
)
