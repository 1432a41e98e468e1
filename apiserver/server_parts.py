"""ServerParts: what a server offers to groups that need more than the object of a request.

A group that is a constant knows no server. `Group.complete` receives these parts when a server
installs the group, and adds what depends on them: the token subresource of service accounts, which
signs with the keys of the server, or an action on one object that looks at others.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # groups import this module, and need no extra for that
    from apimachinery.schema import GroupResource, GroupVersionKind
    from apiserver.admission.admission_metrics import AdmissionMetrics
    from apiserver.admission.configuration import AdmissionConfiguration
    from apiserver.auth.authorization import Authorizer
    from apiserver.auth.service_account_tokens import ServiceAccountTokens
    from apiserver.config import ServerConfig
    from apiserver.registry.store import ResourceStore
    from apiserver.served_versions import ServedVersions
    from apiserver.webhook_call import WebhookCaller


@dataclass(frozen=True, slots=True)
class ServerParts:
    """The parts of one server that groups may use."""

    config: "ServerConfig"
    authorizer: "Authorizer"
    accounts: "ServiceAccountTokens"
    """Signs and verifies the tokens of service accounts."""
    find_store: "Callable[[GroupResource], ResourceStore[Any]]"
    """Returns the store of a served resource, only while a request is served.

    Raises KeyError if there is none.
    """
    find_resource: "Callable[[GroupVersionKind], str]"
    """Returns the name of the served resource of a kind, empty if there is none."""
    check_store: "Callable[[], Awaitable[list[str]]]"
    """Checks each member of the store; returns their problems, empty for a healthy member."""
    webhooks: "WebhookCaller"
    """Calls webhooks over the network."""
    admission_configuration: "AdmissionConfiguration"
    """The configurations of admission plugins."""
    admission_metrics: "AdmissionMetrics"
    versions: "ServedVersions"
    """The served versions of every resource; usable only while a request is served."""
