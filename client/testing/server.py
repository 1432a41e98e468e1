"""The server of a test: the real application on a store in memory."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from apimachinery.schema import GroupResource
from apis.core.bootstrap import create_bootstrap_objects
from apis.core.controllers.namespace import NamespaceController
from apis.core.strategy.namespace import NamespaceFinalizeStrategy
from apiserver import inside
from apiserver.admission.chain import Chain
from apiserver.admission.lifecycle import NamespaceLifecycle, NamespacePhase
from apiserver.app import App, create_app
from apiserver.asgi import extended, standard_groups
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import default_authorizer
from apiserver.auth.tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.group import Group
from apiserver.install import Groups
from apiserver.registry.namespaces import StoredNamespaces
from apiserver.storage.backends import open_backend

ADMIN: Final = "admin"
MEMORY: Final = "sqlite://:memory:"

_NAMESPACES: Final = GroupResource("", "namespaces")


class InMemoryServer:
    """One application, not yet started, and the token of somebody who may do everything."""

    def __init__(self, groups: Sequence[Group], *, storage: str = MEMORY) -> None:
        self.token = secrets.token_urlsafe(16)
        names = {group.name for group in groups}
        authorizer = default_authorizer()
        standard = standard_groups(authorizer)
        self.groups = (*groups, *(group for group in standard if group.name not in names))
        admin = User(ADMIN, groups=(MASTERS,))
        self.app: App = create_app(
            self.groups,
            lambda: open_backend(storage),
            authentication=Authentication((TokenAuthenticator({self.token: admin}),)),
            authorizer=authorizer,
            admission=_admission,
            hooks=(extended, _bootstrapped, _controlled),
        )

    def resources(self) -> dict[str, dict[str, str]]:
        """The plural of each kind, by group."""
        return {
            group.name: {resource.kind: resource.name for resource in group.resources}
            for group in self.groups
        }


def _admission(groups: Groups) -> Chain:
    async def lookup(name: str, *, newest: bool) -> NamespacePhase | None:
        return await StoredNamespaces(groups.store(_NAMESPACES))(name, newest=newest)

    return Chain(mutating=[NamespaceLifecycle(lookup)])


@asynccontextmanager
async def _bootstrapped(app: App) -> AsyncIterator[None]:
    await create_bootstrap_objects(app.groups)
    yield


@asynccontextmanager
async def _controlled(app: App) -> AsyncIterator[None]:
    namespaces = inside.Namespaces(app.groups, NamespaceFinalizeStrategy())
    controller = NamespaceController(namespaces, inside.Contents(app.groups))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(controller.run(), name="namespace controller")
        yield
        running.cancel()
