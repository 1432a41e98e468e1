"""Controllers of the server: which run in every worker, and which in the leader only.

They are ordinary controllers (`client.controller`) on the local client. Those that write objects of
other clients run in one worker, which is elected (`leader`); a worker that loses the election
discards its Manager and campaigns again. Names of definitions are accepted by every worker, because
a definition should be established as soon as any worker has seen it.

Servers with different groups may share a store. One worker of all of them keeps what every server
has (roles, definitions, the defaults of namespaces); one worker of each set of groups empties
namespaces and collects garbage, since it can do so only with the resources that it serves.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from apimachinery.errors import APIError
from apimachinery.schema import GroupResource
from apis.admissionregistration import GROUP as ADMISSION
from apis.apiextensions.controllers.definition_cleanup import DefinitionCleanupController
from apis.apiextensions.controllers.definition_names import DefinitionNamesController
from apis.apiregistration import GROUP as APIREGISTRATION
from apis.apiregistration.controllers.service_registration import ServiceRegistrationController
from apis.core.controllers.garbage_collection import GarbageCollector
from apis.core.controllers.namespace import NamespaceController
from apis.core.controllers.namespace_defaults import NamespaceDefault, NamespaceDefaultsController
from apis.flowcontrol.controllers.flow_configuration import FlowConfigurationController
from apis.rbac.controllers.role_aggregation import RoleAggregationController
from apis.storagemigration import GROUP as STORAGEMIGRATION
from apiserver.app import App
from apiserver.controlplane.leader import Election, supervise
from apiserver.controlplane.served_resources import ServedResources
from apiserver.controlplane.service_addresses import (
    add_allocation_repair,
    add_range_protection,
    serves,
)
from apiserver.controlplane.stored_contents import StoredContents
from client.client import AsyncClient
from client.controller.manager import Manager

NAME: Final = "apiserver"
GRACE: Final = 2.0
"""Seconds that a controller has to finish a reconcile when the server stops."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def running_controllers(
    app: App,
    client: AsyncClient,
    *,
    election: Election,
    own_election: Election | None,
    defaults: Sequence[NamespaceDefault],
    flow_configuration: bool,
) -> AsyncIterator[None]:
    """Run the controllers of this worker, and as a leader those of the server.

    *election* is among all servers of the store, *own_election* among those with the same groups;
    it is None for a server that has only the standard groups. The controllers stop when the
    application drains, before its streams end.
    """
    resources, stored = ServedResources(app.groups), StoredContents(app.groups)

    def names(manager: Manager) -> None:
        DefinitionNamesController(client).add_to(manager)

    def of_served_resources(manager: Manager) -> None:
        NamespaceController(
            client, resources, stored.in_namespace, resources.delete_unreachable
        ).add_to(manager)
        GarbageCollector(client, resources, resources.changed, stored.disown_unserved).add_to(
            manager
        )
        add_allocation_repair(manager, client, app.groups)
        _add_storage_protection(manager, client, resources)
        _add_quotas(manager, app)
        _add_policy_types(manager, client, app)
        _add_migrations(manager, client, resources)
        if flow_configuration:
            _add_service_registration(manager, client, resources)
            add_range_protection(manager, client, app.groups)

    def of_every_server(manager: Manager) -> None:
        RoleAggregationController(client).add_to(manager)
        DefinitionCleanupController(
            client, resources.is_built_in, resources.delete_unserved
        ).add_to(manager)
        _add_optional(manager, client, defaults, flow_configuration=flow_configuration)

    def all_of_leader(manager: Manager) -> None:
        of_every_server(manager)
        of_served_resources(manager)

    async def lead(add_controllers: Callable[[Manager], None]) -> None:
        await report_leftovers(stored)
        await _run(client, add_controllers)

    if own_election is None:
        campaigns = [election.run(lambda: lead(all_of_leader))]
    else:
        campaigns = [
            election.run(lambda: _run(client, of_every_server)),
            own_election.run(lambda: lead(of_served_resources)),
        ]
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(supervise(lambda: _run(client, names)), name="worker's controllers"),
            *(tasks.create_task(campaign, name="leader's controllers") for campaign in campaigns),
        ]

        def stop() -> None:
            for task in running:
                task.cancel()

        app.before_drain(stop)
        yield
        stop()


def _add_storage_protection(
    manager: Manager, client: AsyncClient, resources: ServedResources
) -> None:
    """Release deleted claims and volumes that are no longer in use, if the server has any."""
    if not resources.has(GroupResource("", "persistentvolumeclaims")):
        return
    # Imported late: a server without volumes need not load their types.
    from apis.core.controllers.storage_protection import ATTRIBUTES_CLASSES, StorageProtection

    has_classes = resources.has(ATTRIBUTES_CLASSES)
    StorageProtection(client).add_to(manager, attributes_classes=has_classes)


def _add_quotas(manager: Manager, app: App) -> None:
    """Keep the use of ResourceQuotas, if the server has them."""
    if serves(app.groups, GroupResource("", "resourcequotas")):
        # Imported late: a server without quotas need not load the types of pods.
        from apis.core.controllers.resource_quota import ResourceQuotaController
        from apis.core.quota.changes import QuotaChanges
        from apis.core.quota.recount import Recount

        changes, recount = QuotaChanges(app.groups), Recount(app.groups.store)
        ResourceQuotaController(changes, recount).add_to(manager)


def _add_policy_types(manager: Manager, client: AsyncClient, app: App) -> None:
    """Check the types of policies, if the server has them."""
    if serves(app.groups, GroupResource(ADMISSION, "validatingadmissionpolicies")):
        # Imported late: CEL is loaded when it is needed.
        from apis.admissionregistration.controllers.policy_type_checking import (
            PolicyTypeCheckingController,
        )
        from apiserver.controlplane.served_schemas import ServedSchemas

        PolicyTypeCheckingController(client, ServedSchemas(app.groups)).add_to(manager)


def _add_migrations(manager: Manager, client: AsyncClient, resources: ServedResources) -> None:
    """Carry out StorageVersionMigrations, if the server has them."""
    if resources.has(GroupResource(STORAGEMIGRATION, "storageversionmigrations")):
        from apis.storagemigration.controllers.storage_migration import StorageMigrationController

        StorageMigrationController(client, resources).add_to(manager)


def _add_service_registration(
    manager: Manager, client: AsyncClient, resources: ServedResources
) -> None:
    """Keep APIServices if the server has them."""
    if resources.has(GroupResource(APIREGISTRATION, "apiservices")):
        # Only the other groups are registered: who serves this one is no question.
        ServiceRegistrationController(
            client,
            lambda: (one for one in resources.versions() if one[0].group != APIREGISTRATION),
            resources.changed,
        ).add_to(manager)


def _add_optional(
    manager: Manager,
    client: AsyncClient,
    defaults: Sequence[NamespaceDefault],
    *,
    flow_configuration: bool,
) -> None:
    """Add the controllers that a test server does without."""
    if defaults:
        NamespaceDefaultsController(client, defaults).add_to(manager)
    if flow_configuration:
        FlowConfigurationController(client).add_to(manager)


async def report_leftovers(stored: StoredContents) -> None:
    """Log which stored resources no server serves, once for each leader of a set of groups."""
    try:
        leftovers = await stored.leftovers()
    except APIError as error:
        log.debug("failed to look for objects of unserved resources: %s", error)
        return
    if leftovers:
        log.warning(
            "objects of unserved resources are stored: %s; `apiserver storage list` shows all,"
            " `apiserver storage delete` removes leftovers",
            ", ".join(f"{resource} ({count})" for resource, count in leftovers.items()),
        )


async def _run(client: AsyncClient, add_controllers: Callable[[Manager], None]) -> None:
    manager = Manager(client, name=NAME, grace=GRACE)
    add_controllers(manager)
    await manager.start()
