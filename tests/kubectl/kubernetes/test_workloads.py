"""Walks through apps/v1 and policy/v1: create, scale, set, rollout, expose, budgets."""

import json
from typing import Any

from tests.kubectl.runner import Kubectl, one_version

SETS = """
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      serviceName: db
      replicas: 2
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers:
          - name: db
            image: db:1
            volumeMounts: [{name: data, mountPath: /data}]
      volumeClaimTemplates:
      - metadata: {name: data}
        spec:
          accessModes: [ReadWriteOnce]
          resources: {requests: {storage: 1Gi}}
    ---
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent}
    spec:
      selector: {matchLabels: {app: agent}}
      template:
        metadata: {labels: {app: agent}}
        spec:
          containers: [{name: agent, image: "agent:1"}]
          nodeSelector: {disk: ssd}
"""


def report(kubectl: Kubectl, name: str, **status: Any) -> None:
    """Write a status, as the controller of a workload does."""
    body = json.dumps({"status": status})
    kubectl.output("patch", name, "--subresource=status", "--type=merge", "-p", body)


def add_revision(kubectl: Kubectl, number: int, image: str) -> None:
    """Create the replica set of a revision of the deployment `web`, as its controller does."""
    uid = kubectl.output("get", "deploy", "web", "-o", "jsonpath={.metadata.uid}")
    labels = {"app": "web", "pod-template-hash": str(number)}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "web",
        "uid": uid,
        "controller": True,
    }
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"web-{number}",
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": str(number)},
            "ownerReferences": [owner],
        },
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        },
    }
    kubectl.output("create", "-f", "-", stdin=json.dumps(replica_set))


@one_version
def test_a_deployment_is_created_scaled_and_changed(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create deployment web --image=web:1 --replicas=2 --port=8080
        deployment.apps/web created
        $ kubectl create deployment other --image=web:1 --dry-run=server
        deployment.apps/other created (server dry run)
        $ kubectl get deploy
        NAME   READY   UP-TO-DATE   AVAILABLE   AGE
        web    0/2     0            0           AGE
        $ kubectl get deploy web -o wide
        NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES   SELECTOR
        web    0/2     0            0           AGE   web          web:1    app=web
        $ kubectl scale deployment web --replicas=3
        deployment.apps/web scaled
        $ kubectl scale deploy/web --current-replicas=2 --replicas=5
        error: Expected replicas to be 2, was 3
        (exit 1)
        $ kubectl get deploy web --subresource=scale -o jsonpath={.spec.replicas}:{.status.selector}
        3:app=web
        $ kubectl set image deployment/web web=web:2
        deployment.apps/web image updated
        $ kubectl set resources deployment web --requests=cpu=100m
        deployment.apps/web resource requirements updated
        $ kubectl set env deployment/web MODE=fast
        deployment.apps/web env updated
        $ kubectl get deploy web -o jsonpath={.metadata.generation}:{.spec.template.spec.containers[0].image}
        5:web:2
        $ kubectl expose deployment web --port=80 --target-port=8080
        service/web exposed
        $ kubectl get svc web -o jsonpath={.spec.selector.app}
        web
        $ kubectl patch deployment web --type=merge -p '{"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}}}}}'
        The Deployment "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable
        (exit 1)
        $ kubectl delete deployment web
        deployment.apps "web" deleted
    """)  # noqa: E501


@one_version
def test_a_deployment_is_rolled_out_and_back(kubectl: Kubectl) -> None:
    kubectl.output("create", "deployment", "web", "--image=web:2", "--replicas=2")
    kubectl.replays("""
        $ kubectl rollout status deployment/web --watch=false
        Waiting for deployment spec update to be observed...
        $ kubectl rollout pause deployment/web
        deployment.apps/web paused
        $ kubectl rollout resume deployment/web
        deployment.apps/web resumed
    """)
    report(kubectl, "deploy/web", observedGeneration=3, replicas=2, updatedReplicas=1)
    kubectl.replays("""
        $ kubectl rollout status deployment/web --watch=false
        Waiting for deployment "web" rollout to finish: 1 out of 2 new replicas have been updated...
    """)
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas"), 2)
    report(kubectl, "deploy/web", observedGeneration=3, availableReplicas=2, **counts)
    add_revision(kubectl, 1, "web:1")
    add_revision(kubectl, 2, "web:2")

    kubectl.replays("""
        $ kubectl rollout status deployment/web
        deployment "web" successfully rolled out
        $ kubectl get deploy,rs
        NAME                  READY   UP-TO-DATE   AVAILABLE   AGE
        deployment.apps/web   2/2     2            2           AGE
        NAME                    DESIRED   CURRENT   READY   AGE
        replicaset.apps/web-1   0         0         0       AGE
        replicaset.apps/web-2   0         0         0       AGE
        $ kubectl rollout history deployment/web
        deployment.apps/web
        REVISION  CHANGE-CAUSE
        1         <none>
        2         <none>
        $ kubectl rollout undo deployment/web
        deployment.apps/web rolled back
        $ kubectl get deploy web -o jsonpath={.spec.template.spec.containers[0].image}
        web:1
        $ kubectl rollout restart deployment/web
        deployment.apps/web restarted
    """)
    restarted = kubectl.output("get", "deploy", "web", "-o", "jsonpath={.spec.template.metadata}")
    assert "kubectl.kubernetes.io/restartedAt" in restarted


@one_version
def test_stateful_sets_and_daemon_sets(kubectl: Kubectl) -> None:
    """kubectl replaces claim templates as a whole, so it sends a patch that changes nothing."""
    kubectl.write("sets.yaml", SETS)
    kubectl.replays("""
        $ kubectl apply -f sets.yaml
        statefulset.apps/db created
        daemonset.apps/agent created
        $ kubectl apply -f sets.yaml
        statefulset.apps/db configured
        daemonset.apps/agent unchanged
        $ kubectl diff -f sets.yaml
        $ kubectl get sts,ds
        NAME                  READY   AGE
        statefulset.apps/db   0/2     AGE
        NAME                   DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
        daemonset.apps/agent   0         0         0       0            0           disk=ssd        AGE
        $ kubectl scale sts/db --replicas=4
        statefulset.apps/db scaled
        $ kubectl patch sts db --type=merge -p '{"spec":{"serviceName":"other"}}'
        The StatefulSet "db" is invalid: spec.serviceName: Invalid value: "other": field is immutable
        (exit 1)
        $ kubectl set image ds/agent agent=agent:2
        daemonset.apps/agent image updated
        $ kubectl rollout status ds/agent --watch=false
        Waiting for daemon set spec update to be observed...
        $ kubectl get ds agent -o 'jsonpath={.metadata.annotations.deprecated\\.daemonset\\.template\\.generation}'
        2
        $ kubectl scale ds/agent --replicas=2
        Error from server (NotFound): the server could not find the requested resource
        (exit 1)
        $ kubectl delete -f sets.yaml
        statefulset.apps "db" deleted
        daemonset.apps "agent" deleted
    """)  # noqa: E501


@one_version
def test_budgets(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create pdb web --selector=app=web --min-available=50%
        poddisruptionbudget.policy/web created
        $ kubectl get pdb
        NAME   MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE
        web    50%             N/A               0                     AGE
        $ kubectl patch pdb web --type=merge -p '{"spec":{"maxUnavailable":1}}'
        The PodDisruptionBudget "web" is invalid: spec: Invalid value: {"MinAvailable":"50%","Selector":{"matchLabels":{"app":"web"}},"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set
        (exit 1)
        $ kubectl delete pdb web
        poddisruptionbudget.policy "web" deleted
    """)  # noqa: E501
    described = kubectl.output("explain", "pdb.spec")
    assert "minAvailable\t<IntOrString>" in described
