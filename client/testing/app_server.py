"""InMemoryServer: the real application for a test, on a store in memory."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from apiserver.app import App
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.token_keys import TokenKeys, load_signing_key, new_signing_key
from apiserver.auth.user import MASTERS, User
from apiserver.config import ServerConfig
from apiserver.controlplane.standard_server import ServerCredentials, create_app
from apiserver.group import Group
from client.testing.in_process_webhooks import InProcessWebhooks

ADMIN: Final = "admin"
MEMORY: Final = "sqlite://:memory:"


class InMemoryServer:
    """One application, not yet started, and the token of a user with all permissions."""

    def __init__(
        self, groups: Sequence[Group], *, storage: str = MEMORY, config: ServerConfig | None = None
    ) -> None:
        self.token = secrets.token_urlsafe(16)
        admin = User(ADMIN, groups=(MASTERS,))
        credentials = ServerCredentials(
            tokens=[TokenAuthenticator({self.token: admin})],
            keys=TokenKeys(load_signing_key(new_signing_key())),
        )
        self.webhook_calls = InProcessWebhooks()
        # Without defaults, so that a test finds only its own objects, and begins soon.
        self.app: App = create_app(
            replace(config or ServerConfig(), storage=storage, insecure_http=True),
            groups=groups,
            credentials=credentials,
            namespace_defaults=False,
            flow_configuration=False,
            intercept_webhooks=self.webhook_calls.intercept,
        )

    def resources(self) -> dict[str, dict[str, str]]:
        """Return the plural of each kind, by group, once the application has started."""
        return {
            installed.group.name: {
                resource.kind: resource.name for resource in installed.group.resources
            }
            for installed in self.app.groups
        }
