"""The whole core group of Kubernetes: the resources that every server has, and the others.

Each resource is a constant here, in alphabetical order, and `FULL_CORE` lists them all.
"""

from dataclasses import replace
from typing import Final

from apis.core import v1
from apis.core.admission.plugins import FULL_PLUGINS
from apis.core.component_health import ComponentHealth
from apis.core.install import (
    CONFIG_MAPS,
    CORE,
    EVENTS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    complete_core,
)
from apis.core.pod_binding import KIND as BINDING
from apis.core.pod_binding import PodBinding
from apis.core.pod_eviction import KIND as EVICTION
from apis.core.pod_eviction import PodEviction
from apis.core.pod_security.plugin import POD_SECURITY
from apis.core.printers import component_statuses as component_printers
from apis.core.printers import endpoints as endpoints_printers
from apis.core.printers import namespace_policies as policy_printers
from apis.core.printers import nodes as node_printers
from apis.core.printers import persistent_volumes as volume_printers
from apis.core.printers import pods as pod_printers
from apis.core.quota.plugin import RESOURCE_QUOTA
from apis.core.quota.types import ResourceQuota
from apis.core.register_full import FULL_FIELDS, add_to_scheme
from apis.core.strategy.endpoints import EndpointsStrategy
from apis.core.strategy.limit_range import LimitRangeStrategy
from apis.core.strategy.node import NodeStrategy
from apis.core.strategy.persistent_volume import PersistentVolumeStrategy
from apis.core.strategy.persistent_volume_claim import PersistentVolumeClaimStrategy
from apis.core.strategy.pod import PodStrategy, ephemeral_containers, resize
from apis.core.strategy.pod_template import PodTemplateStrategy, ReplicationControllerStrategy
from apis.core.strategy.resource_quota import ResourceQuotaStrategy
from apiserver import STATUS, Group, Resource, ServerParts, Subresource, scale

COMPONENT_STATUSES: Final = Resource(
    "componentstatuses",
    v1.ComponentStatus,
    short_names=("cs",),
    namespaced=False,
    verbs=("get", "list"),
    roles=(),
    columns=component_printers.COMPONENT_STATUS_COLUMNS,
    deprecation="in v1.19+",
)
"""Without its objects: `complete` adds what computes them."""

ENDPOINTS: Final = Resource(
    "endpoints",
    v1.Endpoints,
    EndpointsStrategy(),
    short_names=("ep",),
    roles=("view",),
    columns=endpoints_printers.ENDPOINTS_COLUMNS,
    deprecation="in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
)

LIMIT_RANGES: Final = Resource(
    "limitranges",
    v1.LimitRange,
    LimitRangeStrategy(),
    short_names=("limits",),
    roles=("view",),
    columns=policy_printers.LIMIT_RANGE_COLUMNS,
)

NODES: Final = Resource(
    "nodes",
    v1.Node,
    NodeStrategy(),
    short_names=("no",),
    namespaced=False,
    roles=(),
    subresources=(STATUS,),
    columns=node_printers.NODE_COLUMNS,
    fields=FULL_FIELDS["Node"],
)

PERSISTENT_VOLUME_CLAIMS: Final = Resource(
    "persistentvolumeclaims",
    v1.PersistentVolumeClaim,
    PersistentVolumeClaimStrategy(),
    short_names=("pvc",),
    subresources=(STATUS,),
    columns=volume_printers.PERSISTENT_VOLUME_CLAIM_COLUMNS,
)

PERSISTENT_VOLUMES: Final = Resource(
    "persistentvolumes",
    v1.PersistentVolume,
    PersistentVolumeStrategy(),
    short_names=("pv",),
    namespaced=False,
    roles=(),
    subresources=(STATUS,),
    columns=volume_printers.PERSISTENT_VOLUME_COLUMNS,
)

PODS: Final = Resource(
    "pods",
    v1.Pod,
    PodStrategy(),
    short_names=("po",),
    categories=("all",),
    subresources=(
        Subresource("ephemeralcontainers", handle=ephemeral_containers),
        Subresource("resize", handle=resize),
        STATUS,
    ),
    columns=pod_printers.POD_COLUMNS,
    fields=FULL_FIELDS["Pod"],
)

POD_TEMPLATES: Final = Resource(
    "podtemplates",
    v1.PodTemplate,
    PodTemplateStrategy(),
    roles=(),
    columns=pod_printers.POD_TEMPLATE_COLUMNS,
)

REPLICATION_CONTROLLERS: Final = Resource(
    "replicationcontrollers",
    v1.ReplicationController,
    ReplicationControllerStrategy(),
    short_names=("rc",),
    categories=("all",),
    subresources=(
        scale(
            spec_replicas="spec.replicas",
            status_replicas="status.replicas",
            selector="spec.selector",
        ),
        STATUS,
    ),
    columns=pod_printers.REPLICATION_CONTROLLER_COLUMNS,
    fields=FULL_FIELDS["ReplicationController"],
)

RESOURCE_QUOTAS: Final = Resource(
    "resourcequotas",
    ResourceQuota,
    ResourceQuotaStrategy(),
    short_names=("quota",),
    subresources=(STATUS,),
    roles=("view",),
    columns=policy_printers.RESOURCE_QUOTA_COLUMNS,
)


def complete(group: Group, parts: ServerParts) -> Group:
    """Return the group with what every core group has, and with actions on pods."""
    group = complete_core(group, parts)
    binding, eviction = PodBinding(parts), PodEviction(parts)
    actions = (
        Subresource("binding", verbs=("create",), kind=BINDING, handle=binding.at_pod),
        Subresource(
            "eviction",
            verbs=("create",),
            kind=EVICTION,
            older_versions=("v1beta1",),
            handle=eviction,
        ),
    )
    bindings = Resource("bindings", v1.Binding, verbs=("create",), answer=binding.bind)
    statuses = replace(COMPONENT_STATUSES, compute=ComponentHealth(parts.check_store))
    resources = (
        replace(resource, subresources=(*actions, *resource.subresources))
        if resource.cls is v1.Pod
        else resource
        for resource in group.resources
    )
    return replace(group, resources=(bindings, statuses, *resources))


FULL_CORE: Final = replace(
    CORE,
    add_to_scheme=add_to_scheme,
    resources=(
        CONFIG_MAPS,
        ENDPOINTS,
        EVENTS,
        LIMIT_RANGES,
        NAMESPACES,
        NODES,
        PERSISTENT_VOLUME_CLAIMS,
        PERSISTENT_VOLUMES,
        PODS,
        POD_TEMPLATES,
        REPLICATION_CONTROLLERS,
        RESOURCE_QUOTAS,
        SECRETS,
        SERVICE_ACCOUNTS,
        SERVICES,
    ),
    complete=complete,
    plugins=(*FULL_PLUGINS, POD_SECURITY, RESOURCE_QUOTA),
)
