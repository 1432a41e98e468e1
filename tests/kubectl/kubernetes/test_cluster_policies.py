"""Walks through scheduling.k8s.io, node.k8s.io, storage.k8s.io and certificates.k8s.io."""

from base64 import b64encode

from tests.apis.certificates.requests import pem_request
from tests.kubectl.runner import Kubectl, one_version

RUNTIME = """
    apiVersion: node.k8s.io/v1
    kind: RuntimeClass
    metadata: {name: kata}
    handler: kata-qemu
    overhead: {podFixed: {memory: 120Mi}}
"""
STORAGE = """
    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata:
      name: fast
      annotations: {storageclass.kubernetes.io/is-default-class: "true"}
    provisioner: csi.example.com
    volumeBindingMode: WaitForFirstConsumer
    ---
    apiVersion: storage.k8s.io/v1
    kind: CSIDriver
    metadata: {name: csi.example.com}
    spec: {podInfoOnMount: true}
    ---
    apiVersion: storage.k8s.io/v1
    kind: CSINode
    metadata: {name: node-1}
    spec: {drivers: [{name: csi.example.com, nodeID: i-1}]}
    ---
    apiVersion: storage.k8s.io/v1
    kind: VolumeAttachment
    metadata: {name: data-node-1}
    spec: {attacher: csi.example.com, nodeName: node-1, source: {persistentVolumeName: data}}
    ---
    apiVersion: storage.k8s.io/v1
    kind: VolumeAttributesClass
    metadata: {name: gold}
    driverName: csi.example.com
    parameters: {iops: "10000"}
"""


def signing_request(name: str) -> str:
    return f"""
        apiVersion: certificates.k8s.io/v1
        kind: CertificateSigningRequest
        metadata: {{name: {name}}}
        spec:
          request: {b64encode(pem_request("team", name=name)).decode()}
          signerName: example.com/signer
          expirationSeconds: 86400
          usages: [client auth]
    """


@one_version
def test_priorities(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create priorityclass high --value=1000 --description=Important
        priorityclass.scheduling.k8s.io/high created
        $ kubectl get pc
        NAME                      VALUE        GLOBAL-DEFAULT   AGE   PREEMPTIONPOLICY
        high                      1000         false            AGE   PreemptLowerPriority
        system-cluster-critical   2000000000   false            AGE   PreemptLowerPriority
        system-node-critical      2000001000   false            AGE   PreemptLowerPriority
        $ kubectl patch pc high -p '{"value": 1}'
        The PriorityClass "high" is invalid: value: Forbidden: may not be changed in an update.
        (exit 1)
        $ kubectl delete pc system-node-critical
        Error from server (Forbidden): priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted
        (exit 1)
        $ kubectl delete pc high
        priorityclass.scheduling.k8s.io "high" deleted
    """)  # noqa: E501
    assert "FIELD: value <integer>" in kubectl.output("explain", "priorityclass.value")


@one_version
def test_runtimes(kubectl: Kubectl) -> None:
    kubectl.write("runtime.yaml", RUNTIME)

    kubectl.replays("""
        $ kubectl apply -f runtime.yaml
        runtimeclass.node.k8s.io/kata created
        $ kubectl get runtimeclass
        NAME   HANDLER     AGE
        kata   kata-qemu   AGE
        $ kubectl delete runtimeclass kata
        runtimeclass.node.k8s.io "kata" deleted
    """)


@one_version
def test_storage(kubectl: Kubectl) -> None:
    kubectl.write("storage.yaml", STORAGE)

    kubectl.replays("""
        $ kubectl apply -f storage.yaml
        storageclass.storage.k8s.io/fast created
        csidriver.storage.k8s.io/csi.example.com created
        csinode.storage.k8s.io/node-1 created
        volumeattachment.storage.k8s.io/data-node-1 created
        volumeattributesclass.storage.k8s.io/gold created
        $ kubectl diff -f storage.yaml
        $ kubectl get sc
        NAME             PROVISIONER       RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE
        fast (default)   csi.example.com   Delete          WaitForFirstConsumer   false                  AGE
        $ kubectl get csidrivers
        NAME              ATTACHREQUIRED   PODINFOONMOUNT   STORAGECAPACITY   TOKENREQUESTS   REQUIRESREPUBLISH   MODES        AGE
        csi.example.com   true             true             false             <unset>         false               Persistent   AGE
        $ kubectl get csinodes
        NAME     DRIVERS   AGE
        node-1   1         AGE
        $ kubectl get volumeattachments
        NAME          ATTACHER          PV     NODE     ATTACHED   AGE
        data-node-1   csi.example.com   data   node-1   false      AGE
        $ kubectl get vac
        NAME   DRIVERNAME        AGE
        gold   csi.example.com   AGE
        $ kubectl delete -f storage.yaml
        storageclass.storage.k8s.io "fast" deleted
        csidriver.storage.k8s.io "csi.example.com" deleted
        csinode.storage.k8s.io "node-1" deleted
        volumeattachment.storage.k8s.io "data-node-1" deleted
        volumeattributesclass.storage.k8s.io "gold" deleted
    """)  # noqa: E501


@one_version
def test_certificates_are_approved_and_denied(kubectl: Kubectl) -> None:
    for name in ("jane", "joan"):
        kubectl.write(f"{name}.yaml", signing_request(name))

    kubectl.replays("""
        $ kubectl create -f jane.yaml -f joan.yaml
        certificatesigningrequest.certificates.k8s.io/jane created
        certificatesigningrequest.certificates.k8s.io/joan created
        $ kubectl certificate approve jane
        certificatesigningrequest.certificates.k8s.io/jane approved
        $ kubectl certificate deny joan
        certificatesigningrequest.certificates.k8s.io/joan denied
        $ kubectl get csr
        NAME   AGE   SIGNERNAME           REQUESTOR   REQUESTEDDURATION   CONDITION
        jane   AGE   example.com/signer   admin       AGE                 Approved
        joan   AGE   example.com/signer   admin       AGE                 Denied
        $ kubectl get csr jane -o jsonpath={.status.conditions[*].reason}
        KubectlApprove
        $ kubectl delete csr jane joan
        certificatesigningrequest.certificates.k8s.io "jane" deleted
        certificatesigningrequest.certificates.k8s.io "joan" deleted
    """)


@one_version
def test_the_store_is_a_component(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl get cs --no-headers
        etcd-0   Healthy   ok
        Warning: v1 ComponentStatus is deprecated in v1.19+
        $ kubectl explain componentstatuses.conditions.error
        KIND:       ComponentStatus
        VERSION:    v1

        FIELD: error <string>


        DESCRIPTION:
            Reason why the health check failed.
    """)
