"""The composition root: from a configuration to an application that serves.

`app` is what `gunicorn apiserver.asgi:app` runs. It reads the environment and opens the store when
its lifespan starts and not before, so importing this module does nothing.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from apimachinery.errors import APIError
from apimachinery.schema import GroupResource
from apis.apiextensions.controllers.definitions import DefinitionController
from apis.apiextensions.install import APIEXTENSIONS
from apis.authentication.install import authentication_group
from apis.authorization.authorizer import Attributes, Rules, Subject
from apis.authorization.install import authorization_group
from apis.authorization.v1 import NonResourceRule, ResourceRule
from apis.coordination.install import COORDINATION
from apis.core.bootstrap import create_bootstrap_objects
from apis.core.controllers.garbage import GarbageCollector, Identity, Seen
from apis.core.controllers.namespace import NamespaceController
from apis.core.install import CORE
from apis.core.strategy.namespace import NamespaceFinalizeStrategy
from apiserver import inside
from apiserver.admission.chain import Chain
from apiserver.admission.lifecycle import NamespaceLifecycle, NamespacePhase
from apiserver.app import DRAIN, App, create_app
from apiserver.auth.authentication import Authentication, Authenticator, Credentials
from apiserver.auth.authorization import Authorizer, Decision, default_authorizer
from apiserver.auth.tokens import InvalidTokenFile, TokenAuthenticator, TokenFileAuthenticator
from apiserver.auth.user import ANONYMOUS, MASTERS, User
from apiserver.auth.x509 import CertificateAuthenticator
from apiserver.certificates import CertificateError
from apiserver.config import Config, ConfigError, load_config
from apiserver.datadir import ADMIN, DataDir, DataDirError, read_admin_token, renew_serving
from apiserver.everything import Everything
from apiserver.exchange import Receive, Scope
from apiserver.extensions.follower import Extensions
from apiserver.extensions.inside import Definitions, Instances
from apiserver.gate import Send
from apiserver.group import Group
from apiserver.install import Groups, InstallError
from apiserver.loading import GroupError, load_group
from apiserver.registry.namespaces import StoredNamespaces
from apiserver.request import RequestInfo
from apiserver.storage.backends import open_backend
from apiserver.storage.interface import StorageError

log = logging.getLogger(__name__)

RENEWAL_INTERVAL: Final = 3600.0
"""Seconds between two looks at the serving certificate."""
MISTAKES: Final = (
    *(ConfigError, DataDirError, GroupError, InstallError, InvalidTokenFile),
    *(CertificateError, StorageError, APIError),
)
"""What keeps a server from starting and can be told in a line."""

_NAMESPACES: Final = GroupResource("", "namespaces")


class Server:
    """An ASGI application that is made when its lifespan starts."""

    def __init__(self, config: Callable[[], Config]) -> None:
        self._config = config
        self._app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        else:
            assert self._app is not None, "the lifespan has not started"
            await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            self._app = application(self._config())
            await self._app.start()
        except MISTAKES as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        if "state" in scope:
            scope["state"][DRAIN] = self._app.drain
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._app.stop()
        await send({"type": "lifespan.shutdown.complete"})


app: Final = Server(lambda: load_config(os.environ))


def application(config: Config) -> App:
    """The application of a configuration, not yet started."""
    tokens = token_authenticators(config)
    authentication = Authentication(
        [CertificateAuthenticator(), *tokens], anonymous=config.anonymous_auth
    )
    authorizer = default_authorizer()
    own = [load_group(reference) for reference in config.groups]
    names = {group.name for group in own}
    standard = standard_groups(authorizer, _Tokens(tokens))
    return create_app(
        [*own, *(group for group in standard if group.name not in names)],
        partial(open_backend, config.storage_url),
        authentication=authentication,
        authorizer=authorizer,
        admission=_admission,
        hooks=[extended, partial(_bootstrapped, config), _controlled, partial(_renewing, config)],
    )


def standard_groups(
    authorizer: Authorizer | None = None, tokens: "_Tokens | None" = None
) -> tuple[Group, ...]:
    """The groups that every server has; one of the same name takes the place of such a group."""
    return (
        CORE,
        authentication_group(tokens),
        authorization_group(_Reviewer(authorizer or default_authorizer())),
        COORDINATION,
        APIEXTENSIONS,
    )


def token_authenticators(config: Config) -> list[Authenticator]:
    """Those that know bearer tokens: the admin's, and those of the file if there is one."""
    admin = read_admin_token(DataDir(config.data_dir))
    found: list[Authenticator] = [TokenAuthenticator({admin: User(ADMIN, groups=(MASTERS,))})]
    if config.token_auth_file is not None:
        found.append(TokenFileAuthenticator(config.token_auth_file))
    return found


def _admission(groups: Groups) -> Chain:
    async def lookup(name: str, *, newest: bool) -> NamespacePhase | None:
        return await StoredNamespaces(groups.store(_NAMESPACES))(name, newest=newest)

    return Chain(mutating=[NamespaceLifecycle(lookup)])


@asynccontextmanager
async def _bootstrapped(config: Config, app: App) -> AsyncIterator[None]:
    await create_bootstrap_objects(app.groups, port=config.bind.port)
    yield


@asynccontextmanager
async def extended(app: App) -> AsyncIterator[None]:
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
async def _controlled(app: App) -> AsyncIterator[None]:
    """Run the controllers that a server cannot do without; any number of workers may."""
    namespaces = inside.Namespaces(app.groups, NamespaceFinalizeStrategy())
    emptying = NamespaceController(namespaces, inside.Contents(app.groups))
    collecting = GarbageCollector(Everything(app.groups, identify=Identity, see=Seen))
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(emptying.run(), name="namespace controller"),
            tasks.create_task(collecting.run(), name="garbage collector"),
        ]
        yield
        for task in running:
            task.cancel()


@asynccontextmanager
async def _renewing(config: Config, app: App) -> AsyncIterator[None]:
    """Keep the certificate fresh that was made for this server; a given one is its owner's."""
    if config.insecure_http or config.tls_cert_file is not None:
        yield
        return
    async with asyncio.TaskGroup() as tasks:
        renewal = tasks.create_task(_renew(config), name="certificate renewal")
        yield
        renewal.cancel()


async def _renew(config: Config) -> None:
    while True:
        await asyncio.sleep(RENEWAL_INTERVAL)
        try:
            await asyncio.to_thread(renew_serving, config, now=datetime.now(UTC))
        except DataDirError as error:
            log.error("the serving certificate could not be renewed: %s", error)


class _Tokens:
    """Answers token reviews by the server's own authenticators."""

    def __init__(self, authenticators: Sequence[Authenticator]) -> None:
        self._authentication = Authentication(authenticators)

    async def user_of(self, token: str) -> User | None:
        try:
            user = await self._authentication.user_of(Credentials(f"Bearer {token}"))
        except APIError:
            return None
        return None if user is ANONYMOUS else user


class _Reviewer:
    """Answers access reviews by the server's own authorizer."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def authorize(self, subject: Subject, attributes: Attributes) -> Decision:
        info = RequestInfo(
            path=attributes.path,
            verb=attributes.verb,
            is_resource=attributes.is_resource,
            group=attributes.group,
            version=attributes.version,
            resource=attributes.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        return await self._authorizer.authorize(_user(subject), info)

    async def rules(self, subject: Subject, namespace: str) -> Rules:
        rules = await self._authorizer.rules(_user(subject), namespace)
        return Rules(
            resources=[
                ResourceRule(
                    verbs=list(rule.verbs),
                    api_groups=list(rule.groups),
                    resources=list(rule.resources),
                )
                for rule in rules
                if rule.resources
            ],
            paths=[
                NonResourceRule(verbs=list(rule.verbs), non_resource_urls=list(rule.paths))
                for rule in rules
                if rule.paths
            ],
        )


def _user(subject: Subject) -> User:
    extra: dict[str, Any] = {key: tuple(values) for key, values in subject.extra.items()}
    return User(subject.name, subject.uid, tuple(subject.groups), extra)
