"""The core group: its resources as a server installs them.

`core_group` adds the token subresource of service accounts, which needs the server's signing keys.
"""

from dataclasses import replace
from typing import Final

from apis.core import GROUP, printers, v1
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
from apiserver import ALL_VERBS, STATUS, Group, Resource, Subresource

EVENT_TTL: Final = 60 * 60
"""Seconds after which the server deletes an event."""

FINALIZE: Final = Subresource("finalize", verbs=("update",), handle=finalize)

CORE: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "configmaps",
            v1.ConfigMap,
            ConfigMapStrategy(),
            short_names=("cm",),
            columns=printers.CONFIG_MAP_COLUMNS,
        ),
        Resource(
            "events",
            v1.Event,
            EventStrategy(),
            short_names=("ev",),
            columns=printers.EVENT_COLUMNS,
            fields=FIELDS["Event"],
            ttl=lambda event: EVENT_TTL,
        ),
        Resource(
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
        ),
        Resource(
            "secrets",
            v1.Secret,
            SecretStrategy(),
            columns=printers.SECRET_COLUMNS,
            fields=FIELDS["Secret"],
        ),
        Resource(
            "serviceaccounts",
            v1.ServiceAccount,
            ServiceAccountStrategy(),
            short_names=("sa",),
            columns=printers.SERVICE_ACCOUNT_COLUMNS,
        ),
        Resource(
            "services",
            v1.Service,
            ServiceStrategy(),
            short_names=("svc",),
            categories=("all",),
            subresources=(STATUS,),
            columns=printers.SERVICE_COLUMNS,
            fields=FIELDS["Service"],
        ),
    ),
)


def core_group(tokens: TokenRequests) -> Group:
    """Return the core group for a server that can sign tokens."""
    token = Subresource("token", verbs=("create",), kind=TOKEN_REQUEST, handle=tokens)
    return replace(
        CORE,
        resources=tuple(
            replace(resource, subresources=(*resource.subresources, token))
            if resource.cls is v1.ServiceAccount
            else resource
            for resource in CORE.resources
        ),
    )
