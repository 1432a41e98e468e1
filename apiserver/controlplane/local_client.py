"""Local client: an ordinary client of the server in the same process.

The controllers of the server read and write through it, so they run the same steps as every other
client: decoding, admission, validation, managedFields. Its requests do not pass through a socket
nor through the gate, and so are neither limited nor logged nor counted. It authenticates with a
secret that is made for this process and accepted at this entrance only.
"""

from typing import Final

from apiserver.app import App
from client.auth.auth_info import AuthInfo
from client.client import AsyncClient
from client.config import Config
from client.transport.in_process import ASGITransport

FIELD_MANAGER: Final = "apiserver"
"""The manager of what the server writes; the server derives it from the user agent."""
TIMEOUT: Final = 600.0
"""Seconds for one request: emptying a large namespace is a single one."""


def local_client(app: App) -> AsyncClient:
    """Return a client of *app*, which must have been started; the caller closes it."""
    config = Config(
        "https://apiserver",
        auth=AuthInfo(token=app.local.token),
        user_agent=FIELD_MANAGER,
        timeout=TIMEOUT,
        # There is no network to fail; a controller retries what the server refuses.
        max_retries=0,
    )
    # A deprecated version is the business of its users, not of the controllers that empty it.
    return AsyncClient(config, transport=ASGITransport(app.local), warn=lambda _: None)
