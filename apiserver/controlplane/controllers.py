"""Controllers of the server: which run in every worker, and which in the leader only.

They are ordinary controllers (`client.controller`) on the local client. Those that write objects of
other clients run in one worker, which is elected (`leader`); a worker that loses the election
discards its Manager and campaigns again. Names of definitions are accepted by every worker, because
a definition should be established as soon as any worker has seen it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from apis.apiextensions.controllers.definition_cleanup import DefinitionCleanupController
from apis.apiextensions.controllers.definition_names import DefinitionNamesController
from apis.core.controllers.garbage_collection import GarbageCollector
from apis.core.controllers.namespace import NamespaceController
from apis.core.controllers.namespace_defaults import NamespaceDefault, NamespaceDefaultsController
from apis.rbac.controllers.role_aggregation import RoleAggregationController
from apiserver.app import App
from apiserver.controlplane.leader import Election, supervise
from apiserver.controlplane.served_resources import ServedResources
from client.client import AsyncClient
from client.controller.manager import Manager

NAME: Final = "apiserver"
GRACE: Final = 2.0
"""Seconds that a controller has to finish a reconcile when the server stops."""


@asynccontextmanager
async def running_controllers(
    app: App,
    client: AsyncClient,
    *,
    election: Election,
    defaults: Sequence[NamespaceDefault],
) -> AsyncIterator[None]:
    """Run the controllers of this worker, and as the leader those of the server.

    They stop when the application drains, before its streams end.
    """
    resources = ServedResources(app.groups)

    def names(manager: Manager) -> None:
        DefinitionNamesController(client).add_to(manager)

    def all_others(manager: Manager) -> None:
        NamespaceController(client, resources).add_to(manager)
        GarbageCollector(client, resources, resources.changed).add_to(manager)
        RoleAggregationController(client).add_to(manager)
        DefinitionCleanupController(
            client, resources.is_built_in, resources.delete_unserved
        ).add_to(manager)
        if defaults:
            NamespaceDefaultsController(client, defaults).add_to(manager)

    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(supervise(lambda: _run(client, names)), name="worker's controllers"),
            tasks.create_task(
                election.run(lambda: _run(client, all_others)), name="leader's controllers"
            ),
        ]

        def stop() -> None:
            for task in running:
                task.cancel()

        app.before_drain(stop)
        yield
        stop()


async def _run(client: AsyncClient, add_controllers: Callable[[Manager], None]) -> None:
    manager = Manager(client, name=NAME, grace=GRACE)
    add_controllers(manager)
    await manager.start()
