"""The server of a test: the real application, put together as always, on a store in memory."""

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Final

from apiserver.app import App
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.token_keys import TokenKeys, load_signing_key, new_signing_key
from apiserver.auth.user import MASTERS, User
from apiserver.controlplane.role_access import Access
from apiserver.controlplane.standard_server import assemble
from apiserver.group import Group
from apiserver.storage.backends import open_backend

ADMIN: Final = "admin"
MEMORY: Final = "sqlite://:memory:"


class InMemoryServer:
    """One application, not yet started, and the token of somebody who may do everything."""

    def __init__(self, groups: Sequence[Group], *, storage: str = MEMORY) -> None:
        self.token = secrets.token_urlsafe(16)
        admin = User(ADMIN, groups=(MASTERS,))
        self.app: App = assemble(
            groups,
            partial(open_backend, storage),
            access=Access(),
            tokens=[TokenAuthenticator({self.token: admin})],
            keys=TokenKeys(load_signing_key(new_signing_key())),
        )

    def resources(self) -> dict[str, dict[str, str]]:
        """The plural of each kind, by group, once the application has started."""
        return {
            installed.group.name: {one.kind: one.name for one in installed.group.resources}
            for installed in self.app.groups
        }
