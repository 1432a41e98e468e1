"""Options of webhooks: for which writes a server calls them, and how.

They are the fields of a webhook in a MutatingWebhookConfiguration or
ValidatingWebhookConfiguration, under their names in Python.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from apimachinery.meta.types import LabelSelector

Selector: TypeAlias = LabelSelector | Mapping[str, Any]
"""A label selector, or its JSON form: `{"matchLabels": {"tier": "gold"}}`."""


class WebhookOptions(TypedDict, total=False):
    """When a server calls a webhook."""

    name: str
    """Domain name of at least three parts; by default `validate.v1.order.shop.example.com`."""
    path: str
    """By default that of controller-runtime: `/validate-shop-example-com-v1-order`."""
    operations: Sequence[Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]]
    """By default CREATE and UPDATE. A function for DELETE gets the object that is deleted."""
    subresources: Sequence[str]
    """By default `("",)`: the object itself. `("", "status")` adds writes of its status."""
    resource: str
    """Plural of the kind, needed only if the server names it unlike Kubernetes' convention."""
    scope: Literal["*", "Namespaced", "Cluster"]
    failure_policy: Literal["Fail", "Ignore"]
    """What the server does if it cannot call the webhook; by default it rejects the write."""
    timeout: int
    """Seconds that the server waits, 1 to 30; by default 10."""
    match_policy: Literal["Exact", "Equivalent"]
    match_conditions: Mapping[str, str]
    """Names and CEL expressions; the server calls the webhook only if all are true."""
    namespace_selector: Selector
    object_selector: Selector
    side_effects: Literal["None", "NoneOnDryRun"]
    """By default None. With NoneOnDryRun, the function must look at `request.dry_run`."""


class DefaulterOptions(WebhookOptions, total=False):
    """When a server calls a webhook that changes objects."""

    reinvocation_policy: Literal["Never", "IfNeeded"]
    """Whether it is called again if a later webhook changes the object."""
