"""A walk through pods, pod templates and ReplicationControllers."""

import json

from tests.kubectl.runner import Kubectl, one_version

POD = """
    apiVersion: v1
    kind: Pod
    metadata:
      name: web
      labels: {app: web}
    spec:
      containers:
      - name: nginx
        image: nginx:1.27
        ports: [{name: http, containerPort: 80}]
        env: [{name: MODE, value: fast}]
        livenessProbe: {httpGet: {path: /healthz, port: http}}
        resources: {limits: {cpu: 500m, memory: 64Mi}}
      volumes: [{name: cache, emptyDir: {}}]
"""
RUNNING = {
    "status": {
        "phase": "Running",
        "podIP": "10.0.0.7",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [
            {
                "name": "nginx",
                "ready": True,
                "restartCount": 0,
                "image": "nginx:1.27",
                "imageID": "nginx@sha256:a",
                "state": {"running": {"startedAt": "2030-01-01T00:00:00Z"}},
            }
        ],
    }
}
CONTROLLER = """
    apiVersion: v1
    kind: ReplicationController
    metadata: {name: web}
    spec:
      replicas: 2
      template:
        metadata: {labels: {app: rc}}
        spec: {containers: [{name: nginx, image: nginx:1.27}]}
    ---
    apiVersion: v1
    kind: PodTemplate
    metadata: {name: web}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: nginx, image: nginx:1.27}]}
"""
BUDGET = """
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: web}
    spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def bind(kubectl: Kubectl, node: str) -> None:
    """Bind the pod to a node and report that it runs, as a scheduler and a kubelet do."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "web"},
        "target": {"kind": "Node", "name": node},
    }
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/web/binding"
    kubectl.output("create", "--raw", path, "-f", "-", stdin=json.dumps(binding))
    kubectl.output("patch", "pod", "web", "--subresource=status", "-p", json.dumps(RUNNING))


@one_version
def test_a_pod_from_creation_to_deletion(kubectl: Kubectl) -> None:
    kubectl.write("pod.yaml", POD)
    kubectl.replays("""
        $ kubectl create -f pod.yaml
        pod/web created
        $ kubectl get pods
        NAME   READY   STATUS    RESTARTS   AGE
        web    0/1     Pending   0          AGE
        $ kubectl label pod web tier=front
        pod/web labeled
        $ kubectl annotate po/web note=hello
        pod/web annotated
        $ kubectl set image pod/web nginx=nginx:1.28
        pod/web image updated
        $ kubectl get pod web -o jsonpath={.metadata.generation}:{.spec.containers[0].image}
        2:nginx:1.28
    """)

    bind(kubectl, "node-1")

    wide = rows(kubectl.output("get", "pods", "-o", "wide", "--no-headers"))
    assert wide[0][:4] == ["web", "1/1", "Running", "0"]
    assert wide[0][5:] == ["10.0.0.7", "node-1", "<none>", "<none>"]
    selected = kubectl.output("get", "po", "--field-selector", "spec.nodeName=node-1", "-o", "name")
    assert selected == "pod/web\n"
    words = [
        " ".join(line.split()) for line in kubectl.output("describe", "po", "web").splitlines()
    ]
    for line in ("Node: node-1/", "Status: Running", "IP: 10.0.0.7", "QoS Class: Guaranteed"):
        assert line in words
    assert kubectl.output("wait", "--for=condition=Ready", "pod/web", "--timeout=5s") == (
        "pod/web condition met\n"
    )

    kubectl.output("delete", "pod", "web", "--wait=false")
    (row,) = rows(kubectl.output("get", "pods", "--no-headers"))
    assert row[:3] == ["web", "1/1", "Terminating"]
    forced = kubectl("delete", "pod", "web", "--force", "--grace-period=0")
    assert 'pod "web" force deleted' in forced.stdout
    assert kubectl("get", "pod", "web").stderr == (
        'Error from server (NotFound): pods "web" not found\n'
    )


@one_version
def test_run_apply_and_diff(kubectl: Kubectl) -> None:
    kubectl.write("pod.yaml", POD)

    assert kubectl.output("run", "solo", "--image=busybox", "--restart=Never") == (
        "pod/solo created\n"
    )
    kubectl.output("apply", "-f", "pod.yaml")
    assert kubectl("diff", "-f", "pod.yaml").code == 0
    assert kubectl.output("apply", "--server-side", "--force-conflicts", "-f", "pod.yaml") == (
        "pod/web serverside-applied\n"
    )
    refused = kubectl("set", "env", "pod/web", "MODE=slow")
    assert "pod updates may not change fields other than" in refused.stderr
    kubectl.output("delete", "pod", "--all", "--now")
    assert kubectl.output("get", "pods") == ""


@one_version
def test_explain_helps(kubectl: Kubectl) -> None:
    text = " ".join(kubectl.output("explain", "pod.spec.containers.livenessProbe").split())

    assert "KIND: Pod" in text
    assert "it is restarted when the probe fails" in text


@one_version
def test_a_disruption_budget_blocks_an_eviction(kubectl: Kubectl) -> None:
    kubectl.write("pod.yaml", POD)
    kubectl.write("budget.yaml", BUDGET)
    kubectl.output("create", "-f", "pod.yaml", "-f", "budget.yaml")
    bind(kubectl, "node-2")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/web/eviction"

    refused = kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))
    kubectl.output("delete", "pdb", "web")
    kubectl.output("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))

    assert "Cannot evict pod as it would violate the pod's disruption budget." in refused.stderr
    (row,) = rows(kubectl.output("get", "pods", "--no-headers"))
    assert row[2] == "Terminating"
    kubectl.output("delete", "pod", "web", "--force", "--grace-period=0")


@one_version
def test_controllers_and_templates(kubectl: Kubectl) -> None:
    kubectl.write("controller.yaml", CONTROLLER)

    kubectl.replays("""
        $ kubectl create -f controller.yaml
        replicationcontroller/web created
        podtemplate/web created
        $ kubectl get rc
        NAME   DESIRED   CURRENT   READY   AGE
        web    2         0         0       AGE
        $ kubectl get podtemplates
        NAME   CONTAINERS   IMAGES       POD LABELS
        web    nginx        nginx:1.27   app=web
        $ kubectl scale rc web --replicas=5
        replicationcontroller/web scaled
        $ kubectl get rc web -o jsonpath={.spec.replicas}
        5
        $ kubectl delete rc/web podtemplate/web
        replicationcontroller "web" deleted
        podtemplate "web" deleted
    """)
