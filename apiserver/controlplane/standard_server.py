"""Standard server: composes the application of a configuration.

Around the groups of the configuration every server has the standard groups, authentication,
authorization by roles, bootstrap objects, custom resources and the controllers that keep all of
this up to date. A server under gunicorn and the server of a test are built by the same function.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Final

from apimachinery.schema import GroupResource
from apis.apiextensions.install import APIEXTENSIONS
from apis.authentication.install import authentication_group
from apis.authorization.install import authorization_group
from apis.coordination.install import COORDINATION
from apis.core.bootstrap import create_bootstrap_objects, new_api_service
from apis.core.controllers.namespace_defaults import NamespaceDefault, default_account, root_ca
from apis.core.install import CORE
from apis.events.install import EVENTS
from apis.flowcontrol.install import FLOWCONTROL
from apis.flowcontrol.reconciliation import ensure_configuration
from apiserver.admission.admission_metrics import AdmissionMetrics
from apiserver.admission.configuration import AdmissionConfiguration
from apiserver.admission.plugins import Admission
from apiserver.app import App
from apiserver.auth.authentication import Authentication, Authenticator
from apiserver.auth.service_account_tokens import ServiceAccountTokens
from apiserver.auth.static_tokens import TokenAuthenticator, TokenFileAuthenticator
from apiserver.auth.token_keys import TokenKeys
from apiserver.auth.token_review import TokenReviewer
from apiserver.auth.user import MASTERS, User
from apiserver.auth.user_tokens import SignedTokenAuthenticator, signing_key
from apiserver.auth.x509 import CertificateAuthenticator
from apiserver.config import ServerConfig
from apiserver.controlplane.class_warming import build_stable_classes
from apiserver.controlplane.group_objects import create_group_objects
from apiserver.controlplane.leader import election_for
from apiserver.controlplane.local_client import local_client
from apiserver.controlplane.role_access import RoleAccess
from apiserver.controlplane.server_addresses import advertised
from apiserver.controlplane.server_admission import selected_plugins
from apiserver.controlplane.server_controllers import running_controllers
from apiserver.controlplane.service_addresses import allocates_addresses
from apiserver.controlplane.stored_flows import StoredFlows, object_count
from apiserver.controlplane.stored_identities import StoredIdentities
from apiserver.controlplane.webhook_calls.webhook_connections import WebhookConnections
from apiserver.controlplane.webhook_calls.webhook_services import ServiceAddresses
from apiserver.controlplane.webhook_calls.webhook_users import webhook_users
from apiserver.evolution.accepted_loss import AcceptedLoss
from apiserver.extensions.conversion_metrics import ConversionMetrics
from apiserver.extensions.definition_follower import DefinitionFollower
from apiserver.extensions.webhook_conversion import WebhookCalls
from apiserver.fairness.request_fairness import RequestFairness
from apiserver.group import Group
from apiserver.http.request_limits import Limits
from apiserver.http.server_metrics import ServerMetrics
from apiserver.install import Groups
from apiserver.pages.flow_dumps import FlowDumps
from apiserver.pages.openid import add_openid_paths
from apiserver.process.data_dir import DataDir, DataDirError
from apiserver.process.data_folder import (
    ADMIN,
    read_admin_token,
    renew_serving,
    server_ca_bundle,
    token_keys,
)
from apiserver.process.loading import load_groups
from apiserver.served_versions import ServedVersions
from apiserver.server_parts import ServerParts
from apiserver.storage.backends import open_backend
from apiserver.webhook_call import WebhookCaller
from client.client import AsyncClient

log = logging.getLogger(__name__)

RENEWAL_INTERVAL: Final = 3600.0
"""Seconds between two looks at the serving certificate."""

_ORDER: Final = (
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "storagemigration.k8s.io",
)
"""The groups of Kubernetes in the order of its discovery: kubectl prefers the first of them."""


@dataclass(frozen=True, slots=True)
class ServerCredentials:
    """What a server accepts and signs."""

    tokens: Sequence[Authenticator]
    """Authenticators of bearer tokens, beside those of service accounts."""
    keys: TokenKeys
    """Sign and verify the tokens of service accounts."""

    @classmethod
    def stored(cls, config: ServerConfig) -> "ServerCredentials":
        """Read the credentials from the data folder and the files that *config* names."""
        admin = read_admin_token(DataDir(config.data_dir))
        tokens: list[Authenticator] = [
            TokenAuthenticator({admin: User(ADMIN, groups=(MASTERS,))}),
            SignedTokenAuthenticator(signing_key(admin)),
        ]
        if config.token_auth_file is not None:
            tokens.append(TokenFileAuthenticator(config.token_auth_file))
        return cls(tokens, token_keys(config))


def create_app(
    config: ServerConfig,
    *,
    groups: Sequence[Group] = (),
    credentials: ServerCredentials | None = None,
    namespace_defaults: bool = True,
    flow_configuration: bool = True,
    intercept_webhooks: Callable[[WebhookCaller], WebhookCaller] | None = None,
) -> App:
    """Return the application of a configuration, not yet started.

    It serves *groups* beside those that *config* names. *credentials* replace the stored ones, for
    a server without a data folder. Without *namespace_defaults* namespaces are created empty,
    without *flow_configuration* there are no flow schemas and priority levels beside the mandatory.
    *intercept_webhooks* returns what calls webhooks instead of the network that it is given.
    """
    own = [*groups, *(group for name in config.groups for group in load_groups(name))]
    credentials = credentials or ServerCredentials.stored(config)
    access = RoleAccess(config.authorization_mode)
    accounts = ServiceAccountTokens(
        credentials.keys,
        StoredIdentities(lambda resource: app.groups.store(resource)),
        issuers=config.service_account_issuer,
        audiences=config.audiences,
    )
    reviewer = TokenReviewer(credentials.tokens, accounts, audiences=config.audiences)
    standard = standard_groups(access, reviewer)
    configuration = AdmissionConfiguration.read(config.admission_control_config_file)
    connections = WebhookConnections(
        ServiceAddresses(lambda name: app.groups.store(name)), users=webhook_users(configuration)
    )
    webhooks = intercept_webhooks(connections) if intercept_webhooks is not None else connections
    metrics = ServerMetrics()
    parts = ServerParts(
        config,
        access.authorizer,
        accounts,
        lambda name: app.groups.store(name),
        lambda kind: app.groups.resource_of(kind),
        lambda: app.backend.check_members(),
        webhooks,
        configuration,
        AdmissionMetrics(metrics.registry),
        ServedVersions(lambda: app.groups),
    )
    defaults = _namespace_defaults(config) if namespace_defaults else []
    fairness = _fairness(config, metrics, lambda: app.groups)
    installed = [group.completed(parts) for group in with_standard(own, standard)]
    app = App(
        installed,
        partial(open_backend, config.storage_url),
        authentication=Authentication(
            [CertificateAuthenticator(), *credentials.tokens, accounts],
            anonymous=config.allows_anonymous,
        ),
        authorizer=access.authorizer,
        admission=Admission.build(selected_plugins(config, installed), parts),
        accepted_loss=AcceptedLoss.parse(config.accept_field_loss),
        shares_store=":memory:" not in config.storage_url,
        limits=_worker_limits(config),
        concurrency=fairness,
        metrics=metrics,
        hooks=[
            partial(
                _serving_definitions, WebhookCalls(webhooks, ConversionMetrics(metrics.registry))
            ),
            partial(
                _controlled,
                config,
                access,
                beyond(standard, own),
                installed,
                defaults,
                flow_configuration=flow_configuration,
            ),
            partial(_fair, fairness),
            partial(_renewing_certificate, config),
            partial(_calling, connections),
            _warming_classes,
        ],
    )
    if fairness is not None:
        FlowDumps(fairness, monotonic).add_to(app.router)
    issuer = config.service_account_issuer[0]
    keys = credentials.keys.keys.values()
    if not add_openid_paths(app.router, keys, issuer=issuer, server_url=config.server_url):
        log.warning("issuer %r is no https URL: the OpenID documents are not served", issuer)
    return app


def standard_groups(
    access: RoleAccess | None = None,
    reviewer: TokenReviewer | None = None,
) -> tuple[Group, ...]:
    """Return the groups that every server has, unless a group of the same name replaces one."""
    access = access or RoleAccess()
    return (
        CORE,
        authentication_group(reviewer),
        authorization_group(access.authorizer),
        COORDINATION,
        EVENTS,
        access.group,
        APIEXTENSIONS,
        FLOWCONTROL,
    )


def with_standard(own: Sequence[Group], standard: Sequence[Group]) -> list[Group]:
    """Return *own* groups and the standard groups that they do not replace.

    The groups of Kubernetes follow the others, in the order of Kubernetes' discovery.
    """
    added = not_among(own, standard)
    stored = {
        GroupResource(group.name, resource.name)
        for group in (*own, *added)
        for resource in group.resources
    }
    # A core group of one's own may have no events; then events.k8s.io has none to show either.
    shown = (
        group
        for group in added
        if all(resource.stored_as in (None, *stored) for resource in group.resources)
    )
    positions = {name: position for position, name in enumerate(_ORDER, start=1)}
    return sorted([*own, *shown], key=lambda group: positions.get(group.name, 0))


def not_among(replacing: Sequence[Group], groups: Sequence[Group]) -> list[Group]:
    """Return those of *groups* that none of *replacing* replaces."""
    names = {group.name for group in replacing}
    return [group for group in groups if group.name not in names]


def beyond(standard: Sequence[Group], groups: Sequence[Group]) -> list[Group]:
    """Return *groups* without the resources that the standard groups have as well."""
    known = {(group.name, resource.name) for group in standard for resource in group.resources}
    added = (
        replace(
            group, resources=tuple(r for r in group.resources if (group.name, r.name) not in known)
        )
        for group in groups
    )
    return [group for group in added if group.resources]


def _namespace_defaults(config: ServerConfig) -> list[NamespaceDefault]:
    certificates = server_ca_bundle(config)
    known = [root_ca(certificates.decode("ascii", "replace"))] if certificates else []
    return [default_account(), *known]


@asynccontextmanager
async def _serving_definitions(webhooks: WebhookCalls, app: App) -> AsyncIterator[None]:
    """Serve the resources that are defined at run time, in this worker."""
    follower = DefinitionFollower(app.groups, webhooks)
    await follower.start()
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(follower.run(), name="definition follower")
        yield
        following.cancel()


def _worker_limits(config: ServerConfig) -> Limits:
    """Return the limits of one worker: its share of the server's, rounded up."""
    workers = config.workers
    return Limits(
        reads=-(-config.max_requests_inflight // workers),
        writes=-(-config.max_mutating_requests_inflight // workers),
    )


def _fairness(
    config: ServerConfig, metrics: ServerMetrics, groups: Callable[[], Groups]
) -> RequestFairness | None:
    if not config.enable_priority_and_fairness:
        return None
    count = object_count(groups)
    return RequestFairness(config.worker_seats, metrics.registry, count_objects=count)


@asynccontextmanager
async def _fair(fairness: RequestFairness | None, app: App) -> AsyncIterator[None]:
    """Follow the stored flow schemas and priority levels, in this worker."""
    if fairness is None:
        yield
        return
    await fairness.follow(StoredFlows(app.groups))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(fairness.run(), name="request fairness")
        yield
        running.cancel()


@asynccontextmanager
async def _controlled(
    config: ServerConfig,
    access: RoleAccess,
    own: Sequence[Group],
    installed: Sequence[Group],
    defaults: Sequence[NamespaceDefault],
    app: App,
    *,
    flow_configuration: bool,
) -> AsyncIterator[None]:
    """Write the bootstrap objects and run the controllers, which do not hold up readiness."""
    async with local_client(app) as client:
        await _create_bootstrap_objects(app, client, config)
        await create_group_objects(client, installed)
        await access.start(app.groups, client, own)
        if flow_configuration:
            await ensure_configuration(client)
        elect = partial(election_for, config.storage_url, client, config.data_dir)
        async with (
            advertised(app, client, config),
            running_controllers(
                app,
                client,
                election=elect(),
                own_election=elect(groups=_distinction(own)) if own else None,
                defaults=defaults,
                flow_configuration=flow_configuration,
            ),
        ):
            yield


@asynccontextmanager
async def _calling(webhooks: WebhookConnections, app: App) -> AsyncIterator[None]:
    """Close the connections to webhooks when the server ends."""
    try:
        yield
    finally:
        await webhooks.aclose()


async def _create_bootstrap_objects(app: App, client: AsyncClient, config: ServerConfig) -> None:
    port = config.bind.port
    has_addresses = allocates_addresses(app.groups)
    await create_bootstrap_objects(client, port=port, api_service=not has_addresses)
    if not has_addresses:
        return
    # Imported late: a server without addresses of services need not load their types.
    from apis.core import api_service

    clock = partial(datetime.now, UTC)
    ranges = await api_service.ensure_service_ranges(
        client, config.service_cluster_ip_range, now=clock
    )
    await api_service.ensure_api_service(client, new_api_service(port), ranges, now=clock)


def _distinction(own: Sequence[Group]) -> list[str]:
    """Return what tells servers with these resources, beyond the standard ones, from others."""
    standard = {group.name for group in standard_groups()}
    whole = [group.name for group in own if group.name not in standard]
    parts = [
        f"{group.name}/{resource.name}"
        for group in own
        if group.name in standard
        for resource in group.resources
    ]
    return whole + parts


@asynccontextmanager
async def _renewing_certificate(config: ServerConfig, app: App) -> AsyncIterator[None]:
    """Renew the certificate that the server has issued for itself; a given one is its owner's."""
    if config.insecure_http or config.tls_cert_file is not None:
        yield
        return
    async with asyncio.TaskGroup() as tasks:
        renewal = tasks.create_task(_renew(config), name="certificate renewal")
        yield
        renewal.cancel()


@asynccontextmanager
async def _warming_classes(app: App) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        warming = tasks.create_task(build_stable_classes(app.groups), name="class warming")
        yield
        warming.cancel()


async def _renew(config: ServerConfig) -> None:
    while True:
        await asyncio.sleep(RENEWAL_INTERVAL)
        try:
            await asyncio.to_thread(renew_serving, config, now=datetime.now(UTC))
        except DataDirError as error:
            log.error("the serving certificate could not be renewed: %s", error)
