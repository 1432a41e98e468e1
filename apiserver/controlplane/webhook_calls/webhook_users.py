"""KubeconfigUsers: the credentials for webhooks, chosen from a kubeconfig by their host.

The users of the kubeconfig are named after hosts: `webhook.example.com:8443`, `*.example.com`,
`name.namespace.svc`, or `*` for every other host. Clusters are not used: addresses and CA
certificates come from the configuration of a webhook.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from apiserver.admission.configuration import (
    AdmissionConfiguration,
    InvalidAdmissionConfiguration,
)
from apiserver.admission.webhook_configuration import WEBHOOK_ADMISSION, WEBHOOK_PLUGINS
from apiserver.controlplane.webhook_calls.webhook_connections import WebhookUsers
from client.auth.auth_info import AuthInfo
from client.auth.kubeconfig import Kubeconfig, KubeconfigEntry
from client.auth.kubeconfig_entries import auth_info
from client.errors import ConfigError

_HTTPS: Final = ":443"


class KubeconfigUsers:
    """The users of one kubeconfig."""

    def __init__(self, kubeconfig: Kubeconfig) -> None:
        """Raises ConfigError if a user cannot be used."""
        self._users = {name: _user(entry) for name, entry in kubeconfig.users.items()}
        self._default = _user_of_current_context(kubeconfig)

    def user_of(self, host: str) -> AuthInfo:
        """Return the credentials for `host:port`; those of the current context at last."""
        for name in _names(host):
            if (user := self._users.get(name)) is not None:
                return user
        return self._users.get(self._default) or AuthInfo()


def webhook_users(configuration: AdmissionConfiguration) -> Mapping[str, WebhookUsers]:
    """Return the configured credentials by the name of their plugin.

    Raises InvalidAdmissionConfiguration.
    """
    users: dict[str, WebhookUsers] = {}
    problems: list[str] = []
    for plugin in WEBHOOK_PLUGINS:
        try:
            configured = configuration.of(plugin, WEBHOOK_ADMISSION)
            if configured is not None and (file := configured.kube_config_file):
                users[plugin] = KubeconfigUsers(Kubeconfig.read(file))
        except InvalidAdmissionConfiguration as error:
            problems += error.problems
        except ConfigError as error:
            source = configuration.documents[plugin]
            problems.append(f"{source.file}: {source.prefix}kubeConfigFile: {file}: {error}")
    if problems:
        raise InvalidAdmissionConfiguration(*problems)
    return users


def _names(host: str) -> Iterator[str]:
    """Yield the names of users for a host, the best one first."""
    yield from _with_wildcards(host)
    if host.endswith(_HTTPS):
        yield from _with_wildcards(host.removesuffix(_HTTPS).strip("[]"))
    yield "*"


def _with_wildcards(host: str) -> Iterator[str]:
    yield host
    _, dot, rest = host.partition(".")
    while dot:
        yield f"*.{rest}"
        _, dot, rest = rest.partition(".")


def _user(entry: KubeconfigEntry) -> AuthInfo:
    if entry.section("auth-provider") is not None:
        raise ConfigError(f"{entry.name}: auth provider not supported")
    if entry.text("as"):
        raise ConfigError(f"{entry.name}: as: users cannot be impersonated at webhooks")
    return auth_info(entry, KubeconfigEntry())


def _user_of_current_context(kubeconfig: Kubeconfig) -> str:
    context = kubeconfig.contexts.get(kubeconfig.current_context)
    return context.text("user") if context is not None else ""
