"""Walks through admission policies, webhooks, API services, migrations and devices."""

from tests.kubectl.runner import Kubectl, one_version

POLICY = """
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingAdmissionPolicy
    metadata: {name: replicas}
    spec:
      matchConstraints:
        resourceRules:
        - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
      validations:
      - expression: object.spec.replicas <= 5
    ---
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingAdmissionPolicyBinding
    metadata: {name: replicas}
    spec:
      policyName: replicas
      validationActions: [Audit]
"""
DEVICES = """
    apiVersion: resource.k8s.io/v1
    kind: DeviceClass
    metadata: {name: gpus}
    spec:
      selectors:
      - cel: {expression: device.driver == "gpu.example.com"}
    ---
    apiVersion: resource.k8s.io/v1
    kind: ResourceSlice
    metadata: {name: node-1}
    spec:
      driver: gpu.example.com
      pool: {name: node-1, resourceSliceCount: 1}
      nodeName: node-1
    ---
    apiVersion: resource.k8s.io/v1
    kind: ResourceClaim
    metadata: {name: training}
    spec:
      devices:
        requests:
        - {name: gpu, exactly: {deviceClassName: gpus}}
"""


@one_version
def test_a_policy_is_written_and_corrected(kubectl: Kubectl) -> None:
    kubectl.write("policy.yaml", POLICY)

    kubectl.replays("""
        $ kubectl apply -f policy.yaml
        validatingadmissionpolicy.admissionregistration.k8s.io/replicas created
        validatingadmissionpolicybinding.admissionregistration.k8s.io/replicas created
        $ kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings
        NAME                                                              VALIDATIONS   PARAMKIND   AGE
        validatingadmissionpolicy.admissionregistration.k8s.io/replicas   1             <unset>     AGE

        NAME                                                                     POLICYNAME   PARAMREF   AGE
        validatingadmissionpolicybinding.admissionregistration.k8s.io/replicas   replicas     <unset>    AGE
        $ kubectl diff -f policy.yaml
        $ kubectl delete -f policy.yaml
        validatingadmissionpolicy.admissionregistration.k8s.io "replicas" deleted
        validatingadmissionpolicybinding.admissionregistration.k8s.io "replicas" deleted
    """)  # noqa: E501


@one_version
def test_devices_are_published_and_claimed(kubectl: Kubectl) -> None:
    kubectl.write("devices.yaml", DEVICES)

    kubectl.replays("""
        $ kubectl apply -f devices.yaml
        deviceclass.resource.k8s.io/gpus created
        resourceslice.resource.k8s.io/node-1 created
        resourceclaim.resource.k8s.io/training created
        $ kubectl get deviceclasses
        NAME   AGE
        gpus   AGE
        $ kubectl get resourceslices --field-selector=spec.driver=gpu.example.com
        NAME     NODE     DRIVER            POOL     AGE
        node-1   node-1   gpu.example.com   node-1   AGE
        $ kubectl get resourceclaims
        NAME       STATE     AGE
        training   pending   AGE
        $ kubectl patch resourceclaim training --type=merge -p '{"spec":{"devices":{"requests":[]}}}'
        The ResourceClaim "training" is invalid: spec: Invalid value: null: field is immutable
        (exit 1)
        $ kubectl delete -f devices.yaml
        deviceclass.resource.k8s.io "gpus" deleted
        resourceslice.resource.k8s.io "node-1" deleted
        resourceclaim.resource.k8s.io "training" deleted
    """)  # noqa: E501


@one_version
def test_a_server_lists_what_it_serves(kubectl: Kubectl) -> None:
    # A controller registers the versions after the server is ready.
    kubectl.output("wait", "--for=create", "apiservice/v1.apps", "--timeout=20s")

    shown = kubectl.output("get", "apiservices", "--no-headers")

    services = {line.split()[0]: line.split()[1:3] for line in shown.splitlines()}
    assert services["v1."] == ["Local", "True"]
    assert services["v1.apps"] == ["Local", "True"]
