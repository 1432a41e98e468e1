"""Webhook calls: how the server posts documents to HTTP services of users.

Admission webhooks review writes, and conversion webhooks convert custom resources. Both are
reached by a URL or by a Service, and verified by CA certificates of their own. The calls go over
the network, which only the composition of the server has: it offers a `WebhookCaller`
(`ServerParts.webhooks`).
"""

from dataclasses import dataclass
from typing import Final, Protocol

from apimachinery.errors import APIError

MAX_ANSWER: Final = 3 * 1024 * 1024
"""Bytes of the largest answer; as many as of the largest request."""


@dataclass(frozen=True, slots=True)
class WebhookService:
    """A Service that serves a webhook."""

    namespace: str
    name: str
    path: str = ""
    port: int = 443

    @property
    def host(self) -> str:
        """The name in the server certificate."""
        return f"{self.name}.{self.namespace}.svc"


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """The connection to a webhook: the `clientConfig` of its configuration."""

    url: str = ""
    """An https URL; unused with *service*."""
    service: WebhookService | None = None
    ca_bundle: bytes = b""
    """PEM certificates that verify the webhook; empty for those of the system."""


class WebhookCallError(Exception):
    """A webhook could not be called, or its answer was an error; the message is Kubernetes'."""

    def __init__(self, message: str, *, status: APIError | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The error that the webhook answered with, None if there was no answer."""


class UnusableTarget(WebhookCallError):
    """A webhook was not called, because its URL or CA certificates cannot be used."""


class WebhookCaller(Protocol):
    """Posts documents to webhooks."""

    async def post(
        self,
        target: WebhookTarget,
        document: bytes,
        *,
        timeout: float,
        query: str = "",
        plugin: str = "",
        max_answer: int = MAX_ANSWER,
    ) -> bytes:
        """Post a JSON document and return the answer, which is not empty.

        *timeout* limits everything, in seconds. *query* is added to the URL. *plugin* is the
        admission plugin whose configured credentials are sent. Raises WebhookCallError.
        """
