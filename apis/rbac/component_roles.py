"""The rules of Kubernetes' components and nodes, and who has them.

Beside those of controllers, these are the roles of a server with every kind. Its own roles that
are smaller on other servers are here with all their rules. `rule_texts.py` explains how a rule and
a subject are written.
"""

from collections.abc import Mapping
from typing import Final

from apis.rbac.controller_roles import EVENTS

COMPONENT_RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "system:aggregate-to-edit": (
        "read pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy",
        "impersonate serviceaccounts",
        "write pods,pods/attach,pods/exec,pods/portforward,pods/proxy",
        "create pods/eviction",
        (
            "write configmaps,persistentvolumeclaims,replicationcontrollers,"
            "replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy"
        ),
        "create serviceaccounts/token",
        "write events of core,events.k8s.io",
        (
            "write daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,"
            "replicasets/scale,statefulsets,statefulsets/scale of apps"
        ),
        "write horizontalpodautoscalers of autoscaling",
        "write cronjobs,jobs of batch",
        (
            "write daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,"
            "networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale of "
            "extensions"
        ),
        "write poddisruptionbudgets of policy",
        "write ingresses,networkpolicies of networking.k8s.io",
        "manage leases of coordination.k8s.io",
        "write resourceclaims,resourceclaimtemplates of resource.k8s.io",
    ),
    "system:aggregate-to-view": (
        (
            "read configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,"
            "replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,"
            "services/status"
        ),
        (
            "read bindings,limitranges,namespaces/status,pods/log,pods/status,"
            "replicationcontrollers/status,resourcequotas,resourcequotas/status"
        ),
        "read namespaces",
        "read events of core,events.k8s.io",
        "read endpointslices of discovery.k8s.io",
        (
            "read controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,"
            "deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,"
            "statefulsets/scale,statefulsets/status of apps"
        ),
        "read horizontalpodautoscalers,horizontalpodautoscalers/status of autoscaling",
        "read cronjobs,cronjobs/status,jobs,jobs/status of batch",
        (
            "read daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,"
            "ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,"
            "replicasets/status,replicationcontrollers/scale of extensions"
        ),
        "read poddisruptionbudgets,poddisruptionbudgets/status of policy",
        "read ingresses,ingresses/status,networkpolicies of networking.k8s.io",
        "read resourceclaims,resourceclaims/status,resourceclaimtemplates of resource.k8s.io",
    ),
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient": (
        "create certificatesigningrequests/nodeclient of certificates.k8s.io",
    ),
    "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": (
        "create certificatesigningrequests/selfnodeclient of certificates.k8s.io",
    ),
    "system:certificates.k8s.io:kube-apiserver-client-approver": (
        "approve signers of certificates.k8s.io named kubernetes.io/kube-apiserver-client",
    ),
    "system:certificates.k8s.io:kube-apiserver-client-kubelet-approver": (
        "approve signers of certificates.k8s.io named kubernetes.io/kube-apiserver-client-kubelet",
    ),
    "system:certificates.k8s.io:kubelet-serving-approver": (
        "approve signers of certificates.k8s.io named kubernetes.io/kubelet-serving",
    ),
    "system:certificates.k8s.io:legacy-unknown-approver": (
        "approve signers of certificates.k8s.io named kubernetes.io/legacy-unknown",
    ),
    "system:cluster-trust-bundle-discovery": ("read clustertrustbundles of certificates.k8s.io",),
    "system:heapster": ("read events,namespaces,nodes,pods", "read deployments of extensions"),
    "system:kube-aggregator": ("read endpoints,services",),
    "system:kube-controller-manager": (
        EVENTS,
        "create leases of coordination.k8s.io",
        "get,update leases of coordination.k8s.io named kube-controller-manager",
        "create secrets,serviceaccounts",
        "delete secrets",
        "get configmaps,namespaces,secrets,serviceaccounts",
        "update secrets,serviceaccounts",
        "create tokenreviews of authentication.k8s.io",
        "create subjectaccessreviews of authorization.k8s.io",
        "list,watch * of *",
        "create serviceaccounts/token",
    ),
    "system:kube-dns": ("list,watch endpoints,services",),
    "system:kube-scheduler": (
        EVENTS,
        "create leases of coordination.k8s.io",
        "get,list,update,watch leases of coordination.k8s.io named kube-scheduler",
        "manage leasecandidates of coordination.k8s.io",
        "read nodes",
        "delete,get,list,watch pods",
        "create bindings,pods/binding",
        "patch,update pods/status",
        "read replicationcontrollers,services",
        "read replicasets of apps,extensions",
        "read statefulsets of apps",
        "read poddisruptionbudgets of policy",
        "read persistentvolumeclaims,persistentvolumes",
        "create tokenreviews of authentication.k8s.io",
        "create subjectaccessreviews of authorization.k8s.io",
        "read csinodes of storage.k8s.io",
        "read volumeattachments of storage.k8s.io",
        "read namespaces",
        "read csidrivers of storage.k8s.io",
        "read csistoragecapacities of storage.k8s.io",
        "read deviceclasses of resource.k8s.io",
        "get,list,patch,update,watch resourceclaims of resource.k8s.io",
        "get,list,patch,update,watch resourceclaims/status of resource.k8s.io",
        "update pods/finalizers",
        "read resourceslices of resource.k8s.io",
        "create,delete resourceclaims of resource.k8s.io",
        "read devicetaintrules of resource.k8s.io",
        "patch,update resourceclaims/binding of resource.k8s.io",
    ),
    "system:kubelet-api-admin": (
        "read nodes",
        "proxy nodes",
        "* nodes/log,nodes/metrics,nodes/proxy,nodes/stats",
        "* nodes/configz,nodes/healthz,nodes/pods",
    ),
    "system:monitoring": (
        (
            "get /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,"
            "/readyz/*,/statusz"
        ),
        "get nodes/metrics",
    ),
    "system:node": (
        "create tokenreviews of authentication.k8s.io",
        "create localsubjectaccessreviews,subjectaccessreviews of authorization.k8s.io",
        "read services",
        "create,get,list,watch nodes",
        "patch,update nodes/status",
        "patch,update nodes",
        EVENTS,
        "read pods",
        "create,delete pods",
        "patch,update pods/status",
        "create pods/eviction",
        "read configmaps,secrets",
        "get persistentvolumeclaims,persistentvolumes",
        "get endpoints",
        "create,get,list,watch certificatesigningrequests of certificates.k8s.io",
        "create,delete,get,patch,update leases of coordination.k8s.io",
        "get volumeattachments of storage.k8s.io",
        "create serviceaccounts/token",
        "get,patch,update persistentvolumeclaims/status",
        "read csidrivers of storage.k8s.io",
        "create,delete,get,patch,update csinodes of storage.k8s.io",
        "read runtimeclasses of node.k8s.io",
        "get resourceclaims of resource.k8s.io",
        "deletecollection resourceslices of resource.k8s.io",
        "read clustertrustbundles of certificates.k8s.io",
        "get serviceaccounts",
        "create,get,list,watch podcertificaterequests of certificates.k8s.io",
    ),
    "system:node-bootstrapper": (
        "create,get,list,watch certificatesigningrequests of certificates.k8s.io",
    ),
    "system:node-problem-detector": ("get nodes", "patch nodes/status", EVENTS),
    "system:node-proxier": (
        "list,watch endpoints,services",
        "read nodes",
        EVENTS,
        "list,watch servicecidrs of networking.k8s.io",
        "list,watch endpointslices of discovery.k8s.io",
    ),
    "system:persistent-volume-provisioner": (
        "create,delete,get,list,watch persistentvolumes",
        "get,list,update,watch persistentvolumeclaims",
        "read storageclasses of storage.k8s.io",
        "watch events",
        EVENTS,
    ),
    "system:volume-scheduler": (
        "get,list,patch,update,watch persistentvolumes",
        "read storageclasses of storage.k8s.io",
        "get,list,patch,update,watch persistentvolumeclaims",
    ),
}

COMPONENT_SUBJECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "system:cluster-trust-bundle-discovery": ("group system:serviceaccounts",),
    "system:kube-controller-manager": ("user system:kube-controller-manager",),
    "system:kube-dns": ("account kube-system/kube-dns",),
    "system:kube-scheduler": ("user system:kube-scheduler",),
    "system:node": (),
    "system:node-proxier": ("user system:kube-proxy",),
    "system:volume-scheduler": ("user system:kube-scheduler",),
}
"""Role -> the subjects of the binding of the same name."""

NAMESPACED_RULES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "kube-public": {
        "system:controller:bootstrap-signer": (
            "read configmaps",
            "update configmaps named cluster-info",
            EVENTS,
        ),
    },
    "kube-system": {
        "extension-apiserver-authentication-reader": (
            "read configmaps named extension-apiserver-authentication",
        ),
        "system::leader-locking-kube-controller-manager": (
            "create,get,list,update,watch leases of coordination.k8s.io",
            "create,get,list,update,watch leasecandidates of coordination.k8s.io",
        ),
        "system::leader-locking-kube-scheduler": (
            "create,get,list,update,watch leases of coordination.k8s.io",
            "create,get,list,update,watch leasecandidates of coordination.k8s.io",
        ),
        "system:controller:bootstrap-signer": ("read secrets",),
        "system:controller:cloud-provider": ("create,get,list,watch configmaps",),
        "system:controller:token-cleaner": ("delete,get,list,watch secrets", EVENTS),
    },
}
"""Namespace -> Role -> its rules."""

NAMESPACED_SUBJECTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "kube-public": {
        "system:controller:bootstrap-signer": ("account kube-system/bootstrap-signer",),
    },
    "kube-system": {
        "extension-apiserver-authentication-reader": (
            "user system:kube-controller-manager",
            "user system:kube-scheduler",
        ),
        "system::leader-locking-kube-controller-manager": (
            "user system:kube-controller-manager",
            "account kube-system/kube-controller-manager",
            "account kube-system/leader-election-controller",
        ),
        "system::leader-locking-kube-scheduler": (
            "user system:kube-scheduler",
            "account kube-system/kube-scheduler",
        ),
        "system:controller:bootstrap-signer": ("account kube-system/bootstrap-signer",),
        "system:controller:cloud-provider": ("account kube-system/cloud-provider",),
        "system:controller:token-cleaner": ("account kube-system/token-cleaner",),
    },
}
"""Namespace -> Role -> the subjects of its binding."""
