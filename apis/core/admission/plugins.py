"""The admission plugins of the core group, in the order in which they run.

Each is imported when a server is built that runs it.
"""

from typing import Final

from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.admission.event_rate_limit import CONFIGURATION
from apiserver import AdmissionPlugin, PluginFunctions, ServerParts

ATTRIBUTES_CLASSES: Final = GroupResource("storage.k8s.io", "volumeattributesclasses")
CLAIMS: Final = GroupResource(GROUP, "persistentvolumeclaims")
EVENTS: Final = GroupResource(GROUP, "events")
NODES: Final = GroupResource(GROUP, "nodes")
PODS: Final = GroupResource(GROUP, "pods")
SERVICES: Final = GroupResource(GROUP, "services")
VOLUMES: Final = GroupResource(GROUP, "persistentvolumes")


def _limit_ranger(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.limit_ranger import LimitRanger

    ranger = LimitRanger(parts)
    return PluginFunctions(ranger.mutate, ranger.validate)


def _service_account(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.service_account import ServiceAccountAdmission

    admission = ServiceAccountAdmission(parts)
    return PluginFunctions(admission.mutate, admission.validate)


def _taint_nodes(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.node_taint import taint_new_node

    return PluginFunctions(mutate=taint_new_node)


def _default_tolerations(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.default_tolerations import add_default_tolerations

    return PluginFunctions(mutate=add_default_tolerations)


def _protect_storage(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.storage_protection import add_protection

    return PluginFunctions(mutate=add_protection)


def _event_rate_limit(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.event_rate_limit import EventRateLimit

    configured = parts.admission_configuration.of("EventRateLimit", CONFIGURATION)
    return PluginFunctions(validate=EventRateLimit(configured))


def _owner_permissions(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.owner_permissions import OwnerPermissions

    return PluginFunctions(validate=OwnerPermissions(parts))


def _deny_external_ips(parts: ServerParts) -> PluginFunctions:
    from apis.core.admission.external_ips import deny_external_ips

    return PluginFunctions(validate=deny_external_ips)


PLUGINS: Final = (
    AdmissionPlugin(
        "EventRateLimit",
        _event_rate_limit,
        frozenset((EVENTS,)),
        on_by_default=False,
        configuration=CONFIGURATION,
    ),
    AdmissionPlugin(
        "OwnerReferencesPermissionEnforcement", _owner_permissions, on_by_default=False
    ),
    AdmissionPlugin(
        "DenyServiceExternalIPs",
        _deny_external_ips,
        frozenset((SERVICES,)),
        on_by_default=False,
    ),
)
"""Those for the resources that every server has."""

FULL_PLUGINS: Final = (
    *PLUGINS,
    AdmissionPlugin("LimitRanger", _limit_ranger, frozenset((PODS, CLAIMS))),
    AdmissionPlugin("ServiceAccount", _service_account, frozenset((PODS,))),
    AdmissionPlugin("TaintNodesByCondition", _taint_nodes, frozenset((NODES,))),
    AdmissionPlugin("DefaultTolerationSeconds", _default_tolerations, frozenset((PODS,))),
    AdmissionPlugin(
        "StorageObjectInUseProtection",
        _protect_storage,
        frozenset((CLAIMS, VOLUMES, ATTRIBUTES_CLASSES)),
    ),
)
