"""Admission plugins: the named steps of admission, and the order in which they run.

A plugin comes with the group whose objects it depends on (`Group.plugins`): quotas with the core
group, webhooks with admissionregistration.k8s.io. It is about resources of any group. The functions
that a group has for its own resources (`Group.mutating`, `Group.validating`) run between the
plugins that complete objects and those that apply policies of administrators, so that webhooks,
policies and quotas see every object complete.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from apimachinery.schema import GroupResource
from apiserver.admission.chain import Chain, Plugin

if TYPE_CHECKING:
    from apiserver.admission.configuration import ConfigurationKind
    from apiserver.server_parts import ServerParts

GROUP_FUNCTIONS: Final = "*"
"""The place of the functions of groups, and of plugins that Kubernetes does not have."""

ORDER: Final = (
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "TaintNodesByCondition",
    "PodSecurity",
    "Priority",
    "DefaultTolerationSeconds",
    "EventRateLimit",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DenyServiceExternalIPs",
    GROUP_FUNCTIONS,
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
)
"""As in Kubernetes. Quotas are last: nothing may reject a write that they have counted."""

_POSITIONS: Final = {name: position for position, name in enumerate(ORDER)}
_PLACE_OF_GROUPS: Final = _POSITIONS[GROUP_FUNCTIONS]


class UnknownPlugin(ValueError):
    """A configuration names a plugin that no installed group has."""


@dataclass(frozen=True, slots=True)
class PluginFunctions:
    """What a plugin does in the two phases of admission."""

    mutate: Plugin | None = None
    validate: Plugin | None = None


@dataclass(frozen=True, slots=True)
class AdmissionPlugin:
    """A step of admission for resources of every group, as its group describes it."""

    name: str
    """As `--enable-admission-plugins` and `--disable-admission-plugins` name it."""
    build: "Callable[[ServerParts], PluginFunctions]"
    """Returns the functions for one server; what only they need is imported here."""
    resources: frozenset[GroupResource] = frozenset()
    """The resources it is about, with their subresources; empty for all."""
    on_by_default: bool = True
    configuration: "ConfigurationKind[Any] | None" = None
    """What its document in the configuration file contains; None if it has no configuration.

    *build* gets it by `parts.admission_configuration.of(name, kind)`.
    """

    @property
    def position(self) -> int:
        return _POSITIONS.get(self.name, _PLACE_OF_GROUPS)

    def concerns(self, resource: GroupResource) -> bool:
        return not self.resources or resource in self.resources


class Admission:
    """The admission of a server; each resource has a chain of the plugins that concern it."""

    def __init__(self, built: Iterable[tuple[AdmissionPlugin, PluginFunctions]] = ()) -> None:
        built = list(built)
        self._before = [both for both in built if both[0].position <= _PLACE_OF_GROUPS]
        self._after = [both for both in built if both[0].position > _PLACE_OF_GROUPS]

    @classmethod
    def build(cls, plugins: Iterable[AdmissionPlugin], parts: "ServerParts") -> "Admission":
        """Build the functions of *plugins*, which are in order, for the server with *parts*."""
        return cls((plugin, plugin.build(parts)) for plugin in plugins)

    def chain(
        self,
        resource: GroupResource,
        *,
        mutating: Sequence[Plugin] = (),
        validating: Sequence[Plugin] = (),
    ) -> Chain:
        """Return the chain of a resource whose group has these functions."""
        before = [functions for plugin, functions in self._before if plugin.concerns(resource)]
        after = [functions for plugin, functions in self._after if plugin.concerns(resource)]
        return Chain(
            mutating=(*_mutating(before), *mutating, *_mutating(after)),
            validating=(*_validating(before), *validating, *_validating(after)),
        )


def select_plugins(
    plugins: Iterable[AdmissionPlugin], *, enabled: Collection[str], disabled: Collection[str]
) -> list[AdmissionPlugin]:
    """Return the plugins that a server runs, in order. Raises UnknownPlugin.

    Any plugin of Kubernetes can be disabled, whether the groups of the server have it or not.
    """
    known = sorted(plugins, key=lambda plugin: plugin.position)
    names = [plugin.name for plugin in known]
    wanted = {*enabled, *(name for name in disabled if name not in _POSITIONS)}
    if unknown := sorted(wanted.difference(names)):
        raise UnknownPlugin(
            f"unknown admission plugins: {', '.join(unknown)}"
            f" (the groups of this server have: {', '.join(names)})"
        )
    return [
        plugin
        for plugin in known
        if plugin.name not in disabled and (plugin.on_by_default or plugin.name in enabled)
    ]


def _mutating(functions: Iterable[PluginFunctions]) -> Iterable[Plugin]:
    return (each.mutate for each in functions if each.mutate is not None)


def _validating(functions: Iterable[PluginFunctions]) -> Iterable[Plugin]:
    return (each.validate for each in functions if each.validate is not None)


NO_PLUGINS: Final = Admission()
