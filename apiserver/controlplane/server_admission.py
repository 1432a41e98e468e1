"""Server admission: the plugins that a server runs, and their configuration.

They come with the groups that are installed, so what a configuration may name depends on them. A
start check finds out with the same functions what keeps a server from starting.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from apimachinery.schema import GroupResource
from apiserver.admission.configuration import (
    AdmissionConfiguration,
    InvalidAdmissionConfiguration,
)
from apiserver.admission.namespace_lifecycle import NamespaceLifecycle, NamespacePhase
from apiserver.admission.plugins import (
    AdmissionPlugin,
    PluginFunctions,
    UnknownPlugin,
    select_plugins,
)
from apiserver.config import ServerConfig
from apiserver.controlplane.stored_namespaces import StoredNamespaces
from apiserver.controlplane.webhook_calls.webhook_users import webhook_users
from apiserver.group import Group
from apiserver.registry.store import ResourceStore

FindStore = Callable[[GroupResource], ResourceStore[Any]]

_NAMESPACES: Final = GroupResource("", "namespaces")


def admission_plugins(groups: Iterable[Group]) -> list[AdmissionPlugin]:
    """Return the plugins of *groups*, and those of every server, in no order."""
    own = AdmissionPlugin("NamespaceLifecycle", lambda parts: namespace_lifecycle(parts.find_store))
    return [own, *(plugin for group in groups for plugin in group.plugins)]


def selected_plugins(config: ServerConfig, groups: Iterable[Group]) -> list[AdmissionPlugin]:
    """Return the plugins that a server runs, in order. Raises UnknownPlugin."""
    return select_plugins(
        admission_plugins(groups),
        enabled=config.enable_admission_plugins,
        disabled=config.disable_admission_plugins,
    )


def admission_problems(config: ServerConfig, groups: Iterable[Group]) -> tuple[str, ...]:
    """Return every reason why a server with *groups* cannot have the admission of *config*."""
    plugins = admission_plugins(groups)
    try:
        selected_plugins(config, groups)
    except UnknownPlugin as error:
        return (str(error),)
    try:
        configuration = AdmissionConfiguration.read(config.admission_control_config_file)
        kinds = {plugin.name: plugin.configuration for plugin in plugins}
        if problems := configuration.problems(kinds):
            return tuple(problems)
        webhook_users(configuration)
    except InvalidAdmissionConfiguration as error:
        return error.problems
    return ()


def namespace_lifecycle(find_store: FindStore) -> PluginFunctions:
    """Accept no objects in namespaces that are missing or terminating."""

    async def lookup(name: str, *, newest: bool) -> NamespacePhase | None:
        return await StoredNamespaces(find_store(_NAMESPACES))(name, newest=newest)

    # It mutates nothing, but must reject before anything else runs.
    return PluginFunctions(mutate=NamespaceLifecycle(lookup))
