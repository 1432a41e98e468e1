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

_SERVICE_ACCOUNT: Final = "ServiceAccount"


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
        config = replace(config or ServerConfig(), storage=storage, insecure_http=True)
        # Without defaults, so that a test finds only its own objects, and begins soon. Without the
        # account `default`, no pod could be created.
        self.app: App = create_app(
            _without_accounts(config),
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


def _without_accounts(config: ServerConfig) -> ServerConfig:
    """Return a configuration that accepts pods without a service account, unless it is enabled."""
    if _SERVICE_ACCOUNT in config.enable_admission_plugins:
        return config
    disabled = (*config.disable_admission_plugins, _SERVICE_ACCOUNT)
    return replace(config, disable_admission_plugins=disabled)
