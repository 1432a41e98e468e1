"""What every server is made of, around the groups that are its own.

The standard groups, who may do what, the objects that are always there and the controllers that a
server cannot do without. What differs between a server and the one inside a test are arguments.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from apimachinery.schema import GroupResource
from apis.apiextensions.controllers.definitions import DefinitionController
from apis.apiextensions.install import APIEXTENSIONS
from apis.authentication.install import authentication_group
from apis.authorization.install import authorization_group
from apis.coordination.install import COORDINATION
from apis.core.bootstrap import create_bootstrap_objects
from apis.core.controllers.garbage import GarbageCollector, Identity, Seen
from apis.core.controllers.namespace import NamespaceController
from apis.core.controllers.namespace_defaults import NamespaceDefault, NamespaceDefaultsController
from apis.core.install import CORE, core_group
from apis.core.strategy.namespace import NamespaceFinalizeStrategy
from apis.core.tokens import TokenRequests
from apis.events.install import EVENTS
from apiserver.admission.chain import Chain
from apiserver.admission.namespace_lifecycle import NamespaceLifecycle, NamespacePhase
from apiserver.app import App, Hook
from apiserver.auth.authentication import Authentication, Authenticator
from apiserver.auth.service_account_tokens import ServiceAccountTokens
from apiserver.auth.token_keys import TokenKeys
from apiserver.auth.token_review import TokenReviewer
from apiserver.auth.x509 import CertificateAuthenticator
from apiserver.config import DEFAULT_BIND, DEFAULT_ISSUER
from apiserver.controlplane import local_objects as inside
from apiserver.controlplane.all_objects import Everything
from apiserver.controlplane.leader import AlwaysLeader, Election
from apiserver.controlplane.local_client import local_client
from apiserver.controlplane.role_access import Access
from apiserver.controlplane.stored_identities import StoredIdentities
from apiserver.controlplane.stored_namespaces import StoredNamespaces
from apiserver.extensions.definition_follower import Extensions
from apiserver.extensions.local_definitions import Definitions, Instances
from apiserver.group import Group
from apiserver.install import Groups
from apiserver.storage.interface import Backend
from client.client import AsyncClient
from client.controller.manager import Manager

GRACE: Final = 2.0
"""Seconds that a controller has to finish what it is doing when the server stops."""
_NAMESPACES: Final = GroupResource("", "namespaces")


def assemble(
    own: Sequence[Group],
    open_store: Callable[[], Awaitable[Backend]],
    *,
    access: Access,
    tokens: Sequence[Authenticator],
    keys: TokenKeys,
    issuers: tuple[str, ...] = (DEFAULT_ISSUER,),
    audiences: tuple[str, ...] = (DEFAULT_ISSUER,),
    anonymous: bool = True,
    port: int = DEFAULT_BIND.port,
    standing: Sequence[NamespaceDefault] = (),
    elect: Callable[[AsyncClient], Election] = lambda _: AlwaysLeader(),
    hooks: Sequence[Hook] = (),
) -> App:
    """An application with the groups and the controllers of every server, and *own* groups.

    *tokens* know bearer tokens, *keys* sign those of service accounts, *port* is where clients
    find the server, and *standing* is what every namespace has.
    """
    accounts = ServiceAccountTokens(
        keys,
        StoredIdentities(lambda resource: made.groups.store(resource)),
        issuers=issuers,
        audiences=audiences,
    )
    standard = standard_groups(
        access, TokenReviewer(tokens, accounts, audiences=audiences), accounts
    )
    made = App(
        with_standard(own, standard),
        open_store,
        authentication=Authentication(
            [CertificateAuthenticator(), *tokens, accounts], anonymous=anonymous
        ),
        authorizer=access.authorizer,
        admission=namespace_admission,
        hooks=[
            _extended,
            partial(_bootstrapped, port),
            lambda app: access.running(app.groups, not_among(standard, own)),
            partial(_controlled, standing, elect),
            *hooks,
        ],
    )
    return made


def standard_groups(
    access: Access | None = None,
    reviewer: TokenReviewer | None = None,
    accounts: ServiceAccountTokens | None = None,
) -> tuple[Group, ...]:
    """The groups that every server has; one of the same name takes the place of such a group."""
    access = access or Access()
    return (
        core_group(TokenRequests(accounts)) if accounts else CORE,
        authentication_group(reviewer),
        authorization_group(access.authorizer),
        COORDINATION,
        EVENTS,
        access.group,
        APIEXTENSIONS,
    )


def with_standard(own: Sequence[Group], standard: Sequence[Group]) -> list[Group]:
    """Groups of one's own, and the standard ones whose place they do not take."""
    groups = [*own, *not_among(own, standard)]
    stored = {
        GroupResource(group.name, found.name) for group in groups for found in group.resources
    }
    # Who replaces core may have no events; then there are none in other words either.
    return [
        group
        for group in groups
        if all(found.stored_as in (None, *stored) for found in group.resources)
    ]


def not_among(known: Sequence[Group], groups: Sequence[Group]) -> list[Group]:
    """Those of *groups* that take no other's place."""
    names = {group.name for group in known}
    return [group for group in groups if group.name not in names]


def namespace_admission(groups: Groups) -> Chain:
    """Return the admission of every server: no objects in missing or terminating namespaces."""

    async def lookup(name: str, *, newest: bool) -> NamespacePhase | None:
        return await StoredNamespaces(groups.store(_NAMESPACES))(name, newest=newest)

    return Chain(mutating=[NamespaceLifecycle(lookup)])


@asynccontextmanager
async def _extended(app: App) -> AsyncIterator[None]:
    """Serve the resources that are defined at run time, in this worker."""
    extensions = Extensions(app.groups)
    defining = DefinitionController(Definitions(app.groups), Instances(app.groups))
    await extensions.start()
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(extensions.run(), name="extensions"),
            tasks.create_task(defining.run(), name="definition controller"),
        ]
        yield
        for task in running:
            task.cancel()


@asynccontextmanager
async def _bootstrapped(port: int, app: App) -> AsyncIterator[None]:
    await create_bootstrap_objects(app.groups, port=port)
    yield


@asynccontextmanager
async def _controlled(
    standing: Sequence[NamespaceDefault], elect: Callable[[AsyncClient], Election], app: App
) -> AsyncIterator[None]:
    """Run the controllers that a server cannot do without; any number of workers may."""
    namespaces = inside.Namespaces(app.groups, NamespaceFinalizeStrategy())
    emptying = NamespaceController(namespaces, inside.Contents(app.groups))
    collecting = GarbageCollector(Everything(app.groups, identify=Identity, see=Seen))
    async with local_client(app) as client, asyncio.TaskGroup() as tasks:

        async def lead() -> None:
            manager = Manager(client, name="apiserver", grace=GRACE)
            NamespaceDefaultsController(client, standing).add_to(manager)
            await manager.start()

        running = [
            tasks.create_task(emptying.run(), name="namespace controller"),
            tasks.create_task(collecting.run(), name="garbage collector"),
            tasks.create_task(elect(client).run(lead), name="controllers of the leader"),
        ]
        yield
        for task in running:
            task.cancel()
