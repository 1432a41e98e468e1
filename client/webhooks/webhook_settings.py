"""WebhookSettings: where webhooks listen, how servers reach them, and whose certificates they use.

Servers reach them by a Service of their cluster, or by a URL, as a program on a laptop needs it.
The certificates are the manager's own, or those that another program, such as cert-manager, writes
to a folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

DEFAULT_PORT: Final = 443


class InvalidWebhookSettings(ValueError):
    """Settings of webhooks that contradict each other or cannot be used."""


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """How the webhooks of a manager are served."""

    address: str = ":9443"
    """`host:port` to listen on."""
    service: str = ""
    """The Service in front of the program: `name`, `namespace/name`, `namespace/name:port`."""
    url: str = ""
    """Instead of *service*: `https://host:port`, as the server reaches this program."""
    certificates: str | Path = ""
    """A folder with `tls.crt` and `tls.key`, which are loaded again when they change. Without it,
    the manager has a certificate authority of its own."""
    secret: str = ""
    """Name of the Secret with this authority, which all replicas share; by default that of the
    manager with `-webhook-certificates`."""
    client_ca: str | Path = ""
    """PEM file; if it is set, only clients with a certificate of these authorities may connect."""
    drain: float = 0.0
    """Seconds for which calls are still answered after the stop, while `/readyz` fails: the time
    that a cluster needs to send them to other replicas."""
    configure: bool = True
    """Whether the manager creates the webhook configurations and sets the conversion of
    definitions. Otherwise it only keeps the CA certificates in those that name it."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations of the webhook configurations, such as cert-manager.io/inject-ca-from."""

    def __post_init__(self) -> None:
        if self.service and self.url:
            raise InvalidWebhookSettings("webhooks: service and url exclude each other")
        if self.configure and not self.service and not self.url:
            raise InvalidWebhookSettings(
                "webhooks: servers need a service or a url to reach them; with configure=False,"
                " the manager leaves that to others"
            )
        if self.url:
            _check_url(self.url)

    def reach(self, namespace: str) -> "WebhookReach":
        """Return how servers reach the webhooks; *namespace* is that of the program."""
        if not self.service:
            return WebhookReach(url=self.url.rstrip("/"))
        place, _, port = self.service.partition(":")
        if port and not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
            raise InvalidWebhookSettings(f"webhooks: service {self.service!r}: the port is no port")
        owner, _, name = place.rpartition("/")
        return WebhookReach(owner or namespace, name, int(port or DEFAULT_PORT))


@dataclass(frozen=True, slots=True)
class WebhookReach:
    """How a server reaches the webhooks: by a Service or by a URL."""

    namespace: str = ""
    name: str = ""
    port: int = DEFAULT_PORT
    url: str = ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names in the serving certificate."""
        if self.url:
            return (urlsplit(self.url).hostname or "",)
        if not self.name:
            return ("localhost", "127.0.0.1")
        service = f"{self.name}.{self.namespace}.svc"
        return (service, f"{service}.cluster.local", f"{self.name}.{self.namespace}")

    def client_config(self, path: str, bundle: str) -> dict[str, Any]:
        """Return the `clientConfig` for a path; *bundle* is base64, or empty to leave it alone."""
        config: dict[str, Any] = {"caBundle": bundle} if bundle else {}
        if self.url:
            return {**config, "url": f"{self.url}{path}"}
        service = {"namespace": self.namespace, "name": self.name, "path": path, "port": self.port}
        return {**config, "service": service}

    def path_of(self, client_config: Mapping[str, Any]) -> str:
        """Return the path of a `clientConfig` that leads here; empty if it leads elsewhere."""
        service, url = client_config.get("service"), client_config.get("url")
        if self.url:
            return str(url)[len(self.url) :] if str(url).startswith(f"{self.url}/") else ""
        if not isinstance(service, Mapping):
            return ""
        place = service.get("namespace"), service.get("name"), service.get("port", DEFAULT_PORT)
        return str(service.get("path", "")) if place == self._place else ""

    @property
    def _place(self) -> tuple[str, str, int]:
        return self.namespace, self.name, self.port


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme == "https" and parts.hostname and (parts.port or 1)
    except ValueError:
        usable = False
    if not usable or parts.path.strip("/") or parts.query or parts.fragment or parts.username:
        raise InvalidWebhookSettings(f"webhooks: url {url!r}: must be https://host:port")
