"""The types of core/v1, each module imported when one of its names is used first.

A new type is added twice: to the imports, which type checkers read, and to the names below them.
"""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apis.core.v1.binding import Binding as Binding
    from apis.core.v1.cloud_volume_sources import (
        AWSElasticBlockStoreVolumeSource as AWSElasticBlockStoreVolumeSource,
    )
    from apis.core.v1.cloud_volume_sources import AzureDiskVolumeSource as AzureDiskVolumeSource
    from apis.core.v1.cloud_volume_sources import AzureFileVolumeSource as AzureFileVolumeSource
    from apis.core.v1.cloud_volume_sources import CinderVolumeSource as CinderVolumeSource
    from apis.core.v1.cloud_volume_sources import (
        GCEPersistentDiskVolumeSource as GCEPersistentDiskVolumeSource,
    )
    from apis.core.v1.cloud_volume_sources import GitRepoVolumeSource as GitRepoVolumeSource
    from apis.core.v1.cloud_volume_sources import (
        PhotonPersistentDiskVolumeSource as PhotonPersistentDiskVolumeSource,
    )
    from apis.core.v1.cloud_volume_sources import PortworxVolumeSource as PortworxVolumeSource
    from apis.core.v1.cloud_volume_sources import ScaleIOVolumeSource as ScaleIOVolumeSource
    from apis.core.v1.cloud_volume_sources import StorageOSVolumeSource as StorageOSVolumeSource
    from apis.core.v1.cloud_volume_sources import (
        VsphereVirtualDiskVolumeSource as VsphereVirtualDiskVolumeSource,
    )
    from apis.core.v1.component_status import ComponentCondition as ComponentCondition
    from apis.core.v1.component_status import ComponentStatus as ComponentStatus
    from apis.core.v1.config_map import ConfigMap as ConfigMap
    from apis.core.v1.container import Container as Container
    from apis.core.v1.container import ContainerPort as ContainerPort
    from apis.core.v1.container import ContainerRestartRule as ContainerRestartRule
    from apis.core.v1.container import (
        ContainerRestartRuleOnExitCodes as ContainerRestartRuleOnExitCodes,
    )
    from apis.core.v1.container import VolumeDevice as VolumeDevice
    from apis.core.v1.container import VolumeMount as VolumeMount
    from apis.core.v1.container_status import ContainerState as ContainerState
    from apis.core.v1.container_status import ContainerStateRunning as ContainerStateRunning
    from apis.core.v1.container_status import ContainerStateTerminated as ContainerStateTerminated
    from apis.core.v1.container_status import ContainerStateWaiting as ContainerStateWaiting
    from apis.core.v1.container_status import ContainerStatus as ContainerStatus
    from apis.core.v1.container_status import ContainerUser as ContainerUser
    from apis.core.v1.container_status import ImageVolumeStatus as ImageVolumeStatus
    from apis.core.v1.container_status import LinuxContainerUser as LinuxContainerUser
    from apis.core.v1.container_status import ResourceHealth as ResourceHealth
    from apis.core.v1.container_status import ResourceStatus as ResourceStatus
    from apis.core.v1.container_status import VolumeMountStatus as VolumeMountStatus
    from apis.core.v1.container_status import VolumeStatus as VolumeStatus
    from apis.core.v1.endpoints import EndpointAddress as EndpointAddress
    from apis.core.v1.endpoints import EndpointPort as EndpointPort
    from apis.core.v1.endpoints import Endpoints as Endpoints
    from apis.core.v1.endpoints import EndpointSubset as EndpointSubset
    from apis.core.v1.env import ConfigMapEnvSource as ConfigMapEnvSource
    from apis.core.v1.env import ConfigMapKeySelector as ConfigMapKeySelector
    from apis.core.v1.env import EnvFromSource as EnvFromSource
    from apis.core.v1.env import EnvVar as EnvVar
    from apis.core.v1.env import EnvVarSource as EnvVarSource
    from apis.core.v1.env import FileKeySelector as FileKeySelector
    from apis.core.v1.env import ObjectFieldSelector as ObjectFieldSelector
    from apis.core.v1.env import ResourceFieldSelector as ResourceFieldSelector
    from apis.core.v1.env import SecretEnvSource as SecretEnvSource
    from apis.core.v1.env import SecretKeySelector as SecretKeySelector
    from apis.core.v1.ephemeral_container import EphemeralContainer as EphemeralContainer
    from apis.core.v1.event import Event as Event
    from apis.core.v1.event import EventSeries as EventSeries
    from apis.core.v1.event import EventSource as EventSource
    from apis.core.v1.limit_range import LimitRange as LimitRange
    from apis.core.v1.limit_range import LimitRangeItem as LimitRangeItem
    from apis.core.v1.limit_range import LimitRangeSpec as LimitRangeSpec
    from apis.core.v1.namespace import Namespace as Namespace
    from apis.core.v1.namespace import NamespaceCondition as NamespaceCondition
    from apis.core.v1.namespace import NamespaceSpec as NamespaceSpec
    from apis.core.v1.namespace import NamespaceStatus as NamespaceStatus
    from apis.core.v1.network_volume_sources import CephFSVolumeSource as CephFSVolumeSource
    from apis.core.v1.network_volume_sources import FCVolumeSource as FCVolumeSource
    from apis.core.v1.network_volume_sources import FlexVolumeSource as FlexVolumeSource
    from apis.core.v1.network_volume_sources import FlockerVolumeSource as FlockerVolumeSource
    from apis.core.v1.network_volume_sources import GlusterfsVolumeSource as GlusterfsVolumeSource
    from apis.core.v1.network_volume_sources import ISCSIVolumeSource as ISCSIVolumeSource
    from apis.core.v1.network_volume_sources import NFSVolumeSource as NFSVolumeSource
    from apis.core.v1.network_volume_sources import QuobyteVolumeSource as QuobyteVolumeSource
    from apis.core.v1.network_volume_sources import RBDVolumeSource as RBDVolumeSource
    from apis.core.v1.node import Node as Node
    from apis.core.v1.node import NodePodPreemptionPolicy as NodePodPreemptionPolicy
    from apis.core.v1.node import NodeSpec as NodeSpec
    from apis.core.v1.node import Taint as Taint
    from apis.core.v1.node_status import AttachedVolume as AttachedVolume
    from apis.core.v1.node_status import ConfigMapNodeConfigSource as ConfigMapNodeConfigSource
    from apis.core.v1.node_status import ContainerImage as ContainerImage
    from apis.core.v1.node_status import DaemonEndpoint as DaemonEndpoint
    from apis.core.v1.node_status import NodeAddress as NodeAddress
    from apis.core.v1.node_status import NodeCondition as NodeCondition
    from apis.core.v1.node_status import NodeConfigSource as NodeConfigSource
    from apis.core.v1.node_status import NodeConfigStatus as NodeConfigStatus
    from apis.core.v1.node_status import NodeDaemonEndpoints as NodeDaemonEndpoints
    from apis.core.v1.node_status import NodeFeatures as NodeFeatures
    from apis.core.v1.node_status import NodeRuntimeHandler as NodeRuntimeHandler
    from apis.core.v1.node_status import NodeRuntimeHandlerFeatures as NodeRuntimeHandlerFeatures
    from apis.core.v1.node_status import NodeStatus as NodeStatus
    from apis.core.v1.node_status import NodeSwapStatus as NodeSwapStatus
    from apis.core.v1.node_status import NodeSystemInfo as NodeSystemInfo
    from apis.core.v1.persistent_volume import PersistentVolume as PersistentVolume
    from apis.core.v1.persistent_volume import PersistentVolumeSource as PersistentVolumeSource
    from apis.core.v1.persistent_volume import PersistentVolumeSpec as PersistentVolumeSpec
    from apis.core.v1.persistent_volume import PersistentVolumeStatus as PersistentVolumeStatus
    from apis.core.v1.persistent_volume import VolumeNodeAffinity as VolumeNodeAffinity
    from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim as PersistentVolumeClaim
    from apis.core.v1.persistent_volume_claim import (
        PersistentVolumeClaimSpec as PersistentVolumeClaimSpec,
    )
    from apis.core.v1.persistent_volume_claim import (
        PersistentVolumeClaimTemplate as PersistentVolumeClaimTemplate,
    )
    from apis.core.v1.persistent_volume_claim_status import ModifyVolumeStatus as ModifyVolumeStatus
    from apis.core.v1.persistent_volume_claim_status import (
        PersistentVolumeClaimCondition as PersistentVolumeClaimCondition,
    )
    from apis.core.v1.persistent_volume_claim_status import (
        PersistentVolumeClaimStatus as PersistentVolumeClaimStatus,
    )
    from apis.core.v1.persistent_volume_claim_status import VolumeHealthStatus as VolumeHealthStatus
    from apis.core.v1.persistent_volume_sources import (
        AzureFilePersistentVolumeSource as AzureFilePersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        CephFSPersistentVolumeSource as CephFSPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        CinderPersistentVolumeSource as CinderPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        CSIPersistentVolumeSource as CSIPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        FlexPersistentVolumeSource as FlexPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        GlusterfsPersistentVolumeSource as GlusterfsPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        ISCSIPersistentVolumeSource as ISCSIPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import LocalVolumeSource as LocalVolumeSource
    from apis.core.v1.persistent_volume_sources import (
        RBDPersistentVolumeSource as RBDPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import (
        ScaleIOPersistentVolumeSource as ScaleIOPersistentVolumeSource,
    )
    from apis.core.v1.persistent_volume_sources import SecretReference as SecretReference
    from apis.core.v1.persistent_volume_sources import (
        StorageOSPersistentVolumeSource as StorageOSPersistentVolumeSource,
    )
    from apis.core.v1.pod import EvictionResponder as EvictionResponder
    from apis.core.v1.pod import HostAlias as HostAlias
    from apis.core.v1.pod import Pod as Pod
    from apis.core.v1.pod import PodDNSConfig as PodDNSConfig
    from apis.core.v1.pod import PodDNSConfigOption as PodDNSConfigOption
    from apis.core.v1.pod import PodOS as PodOS
    from apis.core.v1.pod import PodResourceClaim as PodResourceClaim
    from apis.core.v1.pod import PodSpec as PodSpec
    from apis.core.v1.pod_status import (
        ContainerExtendedResourceRequest as ContainerExtendedResourceRequest,
    )
    from apis.core.v1.pod_status import HostIP as HostIP
    from apis.core.v1.pod_status import (
        NodeAllocatableMappedResources as NodeAllocatableMappedResources,
    )
    from apis.core.v1.pod_status import (
        NodeAllocatableOverheadResources as NodeAllocatableOverheadResources,
    )
    from apis.core.v1.pod_status import (
        NodeAllocatableResourceClaimStatus as NodeAllocatableResourceClaimStatus,
    )
    from apis.core.v1.pod_status import PodCondition as PodCondition
    from apis.core.v1.pod_status import (
        PodExtendedResourceClaimStatus as PodExtendedResourceClaimStatus,
    )
    from apis.core.v1.pod_status import PodIP as PodIP
    from apis.core.v1.pod_status import PodResourceClaimStatus as PodResourceClaimStatus
    from apis.core.v1.pod_status import PodStatus as PodStatus
    from apis.core.v1.pod_status import PodVolumeHealth as PodVolumeHealth
    from apis.core.v1.pod_status import VolumeHealthCondition as VolumeHealthCondition
    from apis.core.v1.pod_template import PodTemplate as PodTemplate
    from apis.core.v1.pod_template import PodTemplateSpec as PodTemplateSpec
    from apis.core.v1.probe import ExecAction as ExecAction
    from apis.core.v1.probe import GRPCAction as GRPCAction
    from apis.core.v1.probe import HTTPGetAction as HTTPGetAction
    from apis.core.v1.probe import HTTPHeader as HTTPHeader
    from apis.core.v1.probe import Lifecycle as Lifecycle
    from apis.core.v1.probe import LifecycleHandler as LifecycleHandler
    from apis.core.v1.probe import Probe as Probe
    from apis.core.v1.probe import SleepAction as SleepAction
    from apis.core.v1.probe import TCPSocketAction as TCPSocketAction
    from apis.core.v1.projected_volume import (
        ClusterTrustBundleProjection as ClusterTrustBundleProjection,
    )
    from apis.core.v1.projected_volume import ConfigMapProjection as ConfigMapProjection
    from apis.core.v1.projected_volume import DownwardAPIProjection as DownwardAPIProjection
    from apis.core.v1.projected_volume import PodCertificateProjection as PodCertificateProjection
    from apis.core.v1.projected_volume import ProjectedVolumeSource as ProjectedVolumeSource
    from apis.core.v1.projected_volume import SecretProjection as SecretProjection
    from apis.core.v1.projected_volume import (
        ServiceAccountTokenProjection as ServiceAccountTokenProjection,
    )
    from apis.core.v1.projected_volume import VolumeProjection as VolumeProjection
    from apis.core.v1.references import LocalObjectReference as LocalObjectReference
    from apis.core.v1.references import ObjectReference as ObjectReference
    from apis.core.v1.references import TypedLocalObjectReference as TypedLocalObjectReference
    from apis.core.v1.references import TypedObjectReference as TypedObjectReference
    from apis.core.v1.replication_controller import ReplicationController as ReplicationController
    from apis.core.v1.replication_controller import (
        ReplicationControllerCondition as ReplicationControllerCondition,
    )
    from apis.core.v1.replication_controller import (
        ReplicationControllerSpec as ReplicationControllerSpec,
    )
    from apis.core.v1.replication_controller import (
        ReplicationControllerStatus as ReplicationControllerStatus,
    )
    from apis.core.v1.resource_quota import ResourceQuota as ResourceQuota
    from apis.core.v1.resource_quota import ResourceQuotaSpec as ResourceQuotaSpec
    from apis.core.v1.resource_quota import ResourceQuotaStatus as ResourceQuotaStatus
    from apis.core.v1.resource_quota import (
        ScopedResourceSelectorRequirement as ScopedResourceSelectorRequirement,
    )
    from apis.core.v1.resource_quota import ScopeSelector as ScopeSelector
    from apis.core.v1.resource_requirements import ContainerResizePolicy as ContainerResizePolicy
    from apis.core.v1.resource_requirements import ResourceClaim as ResourceClaim
    from apis.core.v1.resource_requirements import ResourceRequirements as ResourceRequirements
    from apis.core.v1.resource_requirements import (
        VolumeResourceRequirements as VolumeResourceRequirements,
    )
    from apis.core.v1.scheduling import Affinity as Affinity
    from apis.core.v1.scheduling import NodeAffinity as NodeAffinity
    from apis.core.v1.scheduling import NodeSelector as NodeSelector
    from apis.core.v1.scheduling import NodeSelectorRequirement as NodeSelectorRequirement
    from apis.core.v1.scheduling import NodeSelectorTerm as NodeSelectorTerm
    from apis.core.v1.scheduling import PodAffinity as PodAffinity
    from apis.core.v1.scheduling import PodAffinityTerm as PodAffinityTerm
    from apis.core.v1.scheduling import PodAntiAffinity as PodAntiAffinity
    from apis.core.v1.scheduling import PodReadinessGate as PodReadinessGate
    from apis.core.v1.scheduling import PodSchedulingGate as PodSchedulingGate
    from apis.core.v1.scheduling import PodSchedulingGroup as PodSchedulingGroup
    from apis.core.v1.scheduling import PreferredSchedulingTerm as PreferredSchedulingTerm
    from apis.core.v1.scheduling import Toleration as Toleration
    from apis.core.v1.scheduling import TopologySpreadConstraint as TopologySpreadConstraint
    from apis.core.v1.scheduling import WeightedPodAffinityTerm as WeightedPodAffinityTerm
    from apis.core.v1.secret import Secret as Secret
    from apis.core.v1.security_context import AppArmorProfile as AppArmorProfile
    from apis.core.v1.security_context import Capabilities as Capabilities
    from apis.core.v1.security_context import PodSecurityContext as PodSecurityContext
    from apis.core.v1.security_context import SeccompProfile as SeccompProfile
    from apis.core.v1.security_context import SecurityContext as SecurityContext
    from apis.core.v1.security_context import SELinuxOptions as SELinuxOptions
    from apis.core.v1.security_context import Sysctl as Sysctl
    from apis.core.v1.security_context import (
        WindowsSecurityContextOptions as WindowsSecurityContextOptions,
    )
    from apis.core.v1.service import ClientIPConfig as ClientIPConfig
    from apis.core.v1.service import LoadBalancerIngress as LoadBalancerIngress
    from apis.core.v1.service import LoadBalancerStatus as LoadBalancerStatus
    from apis.core.v1.service import PortStatus as PortStatus
    from apis.core.v1.service import Service as Service
    from apis.core.v1.service import ServicePort as ServicePort
    from apis.core.v1.service import ServiceSpec as ServiceSpec
    from apis.core.v1.service import ServiceStatus as ServiceStatus
    from apis.core.v1.service import SessionAffinityConfig as SessionAffinityConfig
    from apis.core.v1.service_account import ServiceAccount as ServiceAccount
    from apis.core.v1.topology_selectors import (
        TopologySelectorLabelRequirement as TopologySelectorLabelRequirement,
    )
    from apis.core.v1.topology_selectors import TopologySelectorTerm as TopologySelectorTerm
    from apis.core.v1.volume import Volume as Volume
    from apis.core.v1.volume_sources import ConfigMapVolumeSource as ConfigMapVolumeSource
    from apis.core.v1.volume_sources import CSIVolumeSource as CSIVolumeSource
    from apis.core.v1.volume_sources import DownwardAPIVolumeFile as DownwardAPIVolumeFile
    from apis.core.v1.volume_sources import DownwardAPIVolumeSource as DownwardAPIVolumeSource
    from apis.core.v1.volume_sources import EmptyDirVolumeSource as EmptyDirVolumeSource
    from apis.core.v1.volume_sources import EphemeralVolumeSource as EphemeralVolumeSource
    from apis.core.v1.volume_sources import HostPathVolumeSource as HostPathVolumeSource
    from apis.core.v1.volume_sources import ImageVolumeSource as ImageVolumeSource
    from apis.core.v1.volume_sources import KeyToPath as KeyToPath
    from apis.core.v1.volume_sources import (
        PersistentVolumeClaimVolumeSource as PersistentVolumeClaimVolumeSource,
    )
    from apis.core.v1.volume_sources import SecretVolumeSource as SecretVolumeSource
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "binding": "Binding",
            "cloud_volume_sources": (
                "AWSElasticBlockStoreVolumeSource AzureDiskVolumeSource AzureFileVolumeSource"
                " CinderVolumeSource GCEPersistentDiskVolumeSource GitRepoVolumeSource"
                " PhotonPersistentDiskVolumeSource PortworxVolumeSource ScaleIOVolumeSource"
                " StorageOSVolumeSource VsphereVirtualDiskVolumeSource"
            ),
            "component_status": "ComponentCondition ComponentStatus",
            "config_map": "ConfigMap",
            "container": (
                "Container ContainerPort ContainerRestartRule ContainerRestartRuleOnExitCodes"
                " VolumeDevice VolumeMount"
            ),
            "container_status": (
                "ContainerState ContainerStateRunning ContainerStateTerminated"
                " ContainerStateWaiting ContainerStatus ContainerUser ImageVolumeStatus"
                " LinuxContainerUser ResourceHealth ResourceStatus VolumeMountStatus"
                " VolumeStatus"
            ),
            "endpoints": "EndpointAddress EndpointPort EndpointSubset Endpoints",
            "env": (
                "ConfigMapEnvSource ConfigMapKeySelector EnvFromSource EnvVar EnvVarSource"
                " FileKeySelector ObjectFieldSelector ResourceFieldSelector SecretEnvSource"
                " SecretKeySelector"
            ),
            "ephemeral_container": "EphemeralContainer",
            "event": "Event EventSeries EventSource",
            "limit_range": "LimitRange LimitRangeItem LimitRangeSpec",
            "namespace": "Namespace NamespaceCondition NamespaceSpec NamespaceStatus",
            "network_volume_sources": (
                "CephFSVolumeSource FCVolumeSource FlexVolumeSource FlockerVolumeSource"
                " GlusterfsVolumeSource ISCSIVolumeSource NFSVolumeSource QuobyteVolumeSource"
                " RBDVolumeSource"
            ),
            "node": "Node NodePodPreemptionPolicy NodeSpec Taint",
            "node_status": (
                "AttachedVolume ConfigMapNodeConfigSource ContainerImage DaemonEndpoint"
                " NodeAddress NodeCondition NodeConfigSource NodeConfigStatus"
                " NodeDaemonEndpoints NodeFeatures NodeRuntimeHandler NodeRuntimeHandlerFeatures"
                " NodeStatus NodeSwapStatus NodeSystemInfo"
            ),
            "persistent_volume": (
                "PersistentVolume PersistentVolumeSource PersistentVolumeSpec"
                " PersistentVolumeStatus VolumeNodeAffinity"
            ),
            "persistent_volume_claim": (
                "PersistentVolumeClaim PersistentVolumeClaimSpec PersistentVolumeClaimTemplate"
            ),
            "persistent_volume_claim_status": (
                "ModifyVolumeStatus PersistentVolumeClaimCondition PersistentVolumeClaimStatus"
                " VolumeHealthStatus"
            ),
            "persistent_volume_sources": (
                "AzureFilePersistentVolumeSource CSIPersistentVolumeSource"
                " CephFSPersistentVolumeSource CinderPersistentVolumeSource"
                " FlexPersistentVolumeSource GlusterfsPersistentVolumeSource"
                " ISCSIPersistentVolumeSource LocalVolumeSource RBDPersistentVolumeSource"
                " ScaleIOPersistentVolumeSource SecretReference StorageOSPersistentVolumeSource"
            ),
            "pod": (
                "EvictionResponder HostAlias Pod PodDNSConfig PodDNSConfigOption PodOS"
                " PodResourceClaim PodSpec"
            ),
            "pod_status": (
                "ContainerExtendedResourceRequest HostIP NodeAllocatableMappedResources"
                " NodeAllocatableOverheadResources NodeAllocatableResourceClaimStatus"
                " PodCondition PodExtendedResourceClaimStatus PodIP PodResourceClaimStatus"
                " PodStatus PodVolumeHealth VolumeHealthCondition"
            ),
            "pod_template": "PodTemplate PodTemplateSpec",
            "probe": (
                "ExecAction GRPCAction HTTPGetAction HTTPHeader Lifecycle LifecycleHandler"
                " Probe SleepAction TCPSocketAction"
            ),
            "projected_volume": (
                "ClusterTrustBundleProjection ConfigMapProjection DownwardAPIProjection"
                " PodCertificateProjection ProjectedVolumeSource SecretProjection"
                " ServiceAccountTokenProjection VolumeProjection"
            ),
            "references": (
                "LocalObjectReference ObjectReference TypedLocalObjectReference"
                " TypedObjectReference"
            ),
            "replication_controller": (
                "ReplicationController ReplicationControllerCondition ReplicationControllerSpec"
                " ReplicationControllerStatus"
            ),
            "resource_quota": (
                "ResourceQuota ResourceQuotaSpec ResourceQuotaStatus ScopeSelector"
                " ScopedResourceSelectorRequirement"
            ),
            "resource_requirements": (
                "ContainerResizePolicy ResourceClaim ResourceRequirements"
                " VolumeResourceRequirements"
            ),
            "scheduling": (
                "Affinity NodeAffinity NodeSelector NodeSelectorRequirement NodeSelectorTerm"
                " PodAffinity PodAffinityTerm PodAntiAffinity PodReadinessGate PodSchedulingGate"
                " PodSchedulingGroup PreferredSchedulingTerm Toleration TopologySpreadConstraint"
                " WeightedPodAffinityTerm"
            ),
            "secret": "Secret",
            "security_context": (
                "AppArmorProfile Capabilities PodSecurityContext SELinuxOptions SeccompProfile"
                " SecurityContext Sysctl WindowsSecurityContextOptions"
            ),
            "service": (
                "ClientIPConfig LoadBalancerIngress LoadBalancerStatus PortStatus Service"
                " ServicePort ServiceSpec ServiceStatus SessionAffinityConfig"
            ),
            "service_account": "ServiceAccount",
            "topology_selectors": "TopologySelectorLabelRequirement TopologySelectorTerm",
            "volume": "Volume",
            "volume_sources": (
                "CSIVolumeSource ConfigMapVolumeSource DownwardAPIVolumeFile"
                " DownwardAPIVolumeSource EmptyDirVolumeSource EphemeralVolumeSource"
                " HostPathVolumeSource ImageVolumeSource KeyToPath"
                " PersistentVolumeClaimVolumeSource SecretVolumeSource"
            ),
        },
    )
