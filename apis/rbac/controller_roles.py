"""The rules of Kubernetes' controllers, by the names of their service accounts in kube-system.

Programs that run Kubernetes' controllers against this server use these accounts. `rule_texts.py`
explains how a rule is written.
"""

from collections.abc import Mapping
from typing import Final

EVENTS: Final = "create,patch,update events of core,events.k8s.io"
"""Whoever records events may write them in both groups."""

CONTROLLER_RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "attachdetach-controller": (
        "list,watch persistentvolumeclaims,persistentvolumes",
        "read nodes",
        "patch,update nodes/status",
        "list,watch pods",
        EVENTS,
        "create,delete,get,list,watch volumeattachments of storage.k8s.io",
        "read csidrivers of storage.k8s.io",
        "read csinodes of storage.k8s.io",
    ),
    "certificate-controller": (
        "delete,get,list,watch certificatesigningrequests of certificates.k8s.io",
        (
            "update certificatesigningrequests/approval,certificatesigningrequests/status of "
            "certificates.k8s.io"
        ),
        "approve signers of certificates.k8s.io named kubernetes.io/kube-apiserver-client-kubelet",
        (
            "sign signers of certificates.k8s.io named kubernetes.io/kube-apiserver-client,"
            "kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,"
            "kubernetes.io/legacy-unknown"
        ),
        "create subjectaccessreviews of authorization.k8s.io",
        EVENTS,
    ),
    "clusterrole-aggregation-controller": (
        "escalate,get,list,patch,update,watch clusterroles of rbac.authorization.k8s.io",
    ),
    "cronjob-controller": (
        "get,list,update,watch cronjobs of batch",
        "create,delete,get,list,patch,update,watch jobs of batch",
        "update cronjobs/status of batch",
        "update cronjobs/finalizers of batch",
        "delete,list,watch pods",
        EVENTS,
    ),
    "daemon-set-controller": (
        "read daemonsets of apps,extensions",
        "update daemonsets/status of apps,extensions",
        "update daemonsets/finalizers of apps,extensions",
        "list,watch nodes",
        "create,delete,list,patch,watch pods",
        "create pods/binding",
        "create,delete,get,list,patch,update,watch controllerrevisions of apps",
        EVENTS,
    ),
    "deployment-controller": (
        "get,list,update,watch deployments of apps,extensions",
        "update deployments/status of apps,extensions",
        "update deployments/finalizers of apps,extensions",
        "create,delete,get,list,patch,update,watch replicasets of apps,extensions",
        "get,list,update,watch pods",
        EVENTS,
    ),
    "device-taint-eviction-controller": (
        "delete,get,list,watch pods",
        "patch,update pods/status",
        "read resourceclaims of resource.k8s.io",
        "read resourceslices of resource.k8s.io",
        "read deviceclasses of resource.k8s.io",
        EVENTS,
        "patch,update devicetaintrules/status of resource.k8s.io",
        "read devicetaintrules of resource.k8s.io",
    ),
    "disruption-controller": (
        "read deployments of apps,extensions",
        "read replicasets of apps,extensions",
        "read replicationcontrollers",
        "read poddisruptionbudgets of policy",
        "read statefulsets of apps",
        "update poddisruptionbudgets/status of policy",
        "patch,update pods/status",
        "get */scale of *",
        EVENTS,
    ),
    "endpoint-controller": (
        "read pods,services",
        "create,delete,get,list,update,watch endpoints",
        "create endpoints/restricted",
        EVENTS,
    ),
    "endpointslice-controller": (
        "read nodes,pods,services",
        "update services/finalizers",
        "create,delete,get,list,update,watch endpointslices of discovery.k8s.io",
        EVENTS,
    ),
    "endpointslicemirroring-controller": (
        "read endpoints,services",
        "update services/finalizers",
        "update endpoints/finalizers",
        "create,delete,get,list,update,watch endpointslices of discovery.k8s.io",
        EVENTS,
    ),
    "ephemeral-volume-controller": (
        "read pods",
        "update pods/finalizers",
        "create,get,list,watch persistentvolumeclaims",
        EVENTS,
    ),
    "expand-controller": (
        "get,list,patch,update,watch persistentvolumes",
        "patch,update persistentvolumeclaims/status",
        "read persistentvolumeclaims",
        EVENTS,
    ),
    "generic-garbage-collector": ("delete,get,list,patch,update,watch * of *", EVENTS),
    "horizontal-pod-autoscaler": (
        "read horizontalpodautoscalers of autoscaling",
        "update horizontalpodautoscalers/status of autoscaling",
        "get,update */scale of *",
        "list,watch pods",
        "list,watch pods of metrics.k8s.io",
        "read * of custom.metrics.k8s.io",
        "read * of external.metrics.k8s.io",
        EVENTS,
    ),
    "job-controller": (
        "get,list,patch,update,watch jobs of batch",
        "update jobs/status of batch",
        "update jobs/finalizers of batch",
        "create,delete,list,patch,watch pods",
        EVENTS,
    ),
    "kube-apiserver-serving-clustertrustbundle-publisher": (
        "attest signers of certificates.k8s.io named kubernetes.io/kube-apiserver-serving",
        "create,delete,list,update,watch clustertrustbundles of certificates.k8s.io",
        EVENTS,
    ),
    "legacy-service-account-token-cleaner": (
        "get configmaps named kube-apiserver-legacy-service-account-token-tracking",
        "delete,patch secrets",
    ),
    "namespace-controller": (
        "delete,get,list,watch namespaces",
        "update namespaces/finalize,namespaces/status",
        "delete,deletecollection,get,list,watch * of *",
    ),
    "node-controller": (
        "delete,get,list,patch,update,watch nodes",
        "patch,update nodes/status",
        "patch,update pods/status",
        "delete,get,list,watch pods",
        "read leases of coordination.k8s.io",
        EVENTS,
    ),
    "persistent-volume-binder": (
        "create,delete,get,list,update,watch persistentvolumes",
        "update persistentvolumes/status",
        "get,list,update,watch persistentvolumeclaims",
        "update persistentvolumeclaims/status",
        "create,delete,get,list,watch pods",
        "read storageclasses of storage.k8s.io",
        "list,watch nodes",
        EVENTS,
        "watch events",
    ),
    "pod-garbage-collector": ("delete,list,watch pods", "read nodes", "patch pods/status"),
    "podcertificaterequestcleaner": (
        "delete,get,list,watch podcertificaterequests of certificates.k8s.io",
    ),
    "pv-protection-controller": ("get,list,update,watch persistentvolumes", EVENTS),
    "pvc-protection-controller": (
        "get,list,update,watch persistentvolumeclaims",
        "update persistentvolumeclaims/status",
        "read pods",
        EVENTS,
    ),
    "replicaset-controller": (
        "get,list,update,watch replicasets of apps,extensions",
        "update replicasets/status of apps,extensions",
        "update replicasets/finalizers of apps,extensions",
        "create,delete,list,patch,watch pods",
        EVENTS,
    ),
    "replication-controller": (
        "get,list,update,watch replicationcontrollers",
        "update replicationcontrollers/status",
        "update replicationcontrollers/finalizers",
        "create,delete,list,patch,watch pods",
        EVENTS,
    ),
    "resource-claim-controller": (
        "read pods",
        "update pods/finalizers",
        "create,delete,get,list,watch resourceclaims of resource.k8s.io",
        "patch,update resourceclaims,resourceclaims/status of resource.k8s.io",
        "patch,update pods/status",
        EVENTS,
        "patch,update resourceclaims/binding of resource.k8s.io",
    ),
    "resourcequota-controller": ("list,watch * of *", "update resourcequotas/status", EVENTS),
    "root-ca-cert-publisher": ("create,update configmaps", EVENTS),
    "route-controller": ("list,watch nodes", "patch nodes/status", EVENTS),
    "selinux-warning-controller": (
        EVENTS,
        "read persistentvolumes",
        "read persistentvolumeclaims",
        "read pods",
        "read csidrivers of storage.k8s.io",
    ),
    "service-account-controller": ("create serviceaccounts", EVENTS),
    "service-cidrs-controller": (
        "get,list,patch,update,watch servicecidrs of networking.k8s.io",
        "patch,update servicecidrs/finalizers of networking.k8s.io",
        "patch,update servicecidrs/status of networking.k8s.io",
        "read ipaddresses of networking.k8s.io",
        EVENTS,
    ),
    "service-controller": (
        "read services",
        "patch,update services/status",
        "list,watch nodes",
        EVENTS,
    ),
    "statefulset-controller": (
        "list,watch pods",
        "read statefulsets of apps",
        "update statefulsets/status of apps",
        "update statefulsets/finalizers of apps",
        "create,delete,get,patch,update pods",
        "create,delete,get,list,patch,update,watch controllerrevisions of apps",
        "create,get,list,watch persistentvolumeclaims",
        "delete,update persistentvolumeclaims",
        "update pods/finalizers",
        EVENTS,
    ),
    "storage-version-migrator-controller": (
        "list,patch * of *",
        "get customresourcedefinitions of apiextensions.k8s.io",
        "patch customresourcedefinitions/status of apiextensions.k8s.io",
        "update storageversionmigrations/status of storagemigration.k8s.io",
    ),
    "ttl-after-finished-controller": ("delete,get,list,watch jobs of batch", EVENTS),
    "ttl-controller": ("list,patch,update,watch nodes", EVENTS),
    "validatingadmissionpolicy-status-controller": (
        "read validatingadmissionpolicies of admissionregistration.k8s.io",
        "get,patch,update validatingadmissionpolicies/status of admissionregistration.k8s.io",
        EVENTS,
    ),
    "volumeattributesclass-protection-controller": (
        "read persistentvolumeclaims",
        "read persistentvolumes",
        "get,list,update,watch volumeattributesclasses of storage.k8s.io",
        EVENTS,
    ),
}
