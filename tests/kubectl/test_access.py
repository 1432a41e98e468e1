"""kubectl on roles and bindings: create, describe, can-i, reconcile, and a user with little."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kubectl.runner import Kubectl, one_version

ROLE_AND_BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: painter, namespace: NAMESPACE}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: painter, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: painter}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: pablo}
"""


def test_create_describe_and_ask(kubectl: Kubectl) -> None:
    """Every kubectl, since newer ones send protobuf."""
    kubectl.replays("""
        $ kubectl create role reader --verb=get,list --resource=configmaps,gadgets/status
        role.rbac.authorization.k8s.io/reader created
        $ kubectl create rolebinding b --role=reader --user=ann --group=devs --serviceaccount=x:sa
        rolebinding.rbac.authorization.k8s.io/b created
        $ kubectl get rolebindings -o wide
        NAME  ROLE  AGE  USERS  GROUPS  SERVICEACCOUNTS
        b  Role/reader  AGE  ann  devs  x/sa
        $ kubectl describe role reader
        Name:  reader
        Labels:  <none>
        Annotations:  <none>
        PolicyRule:
          Resources  Non-Resource URLs  Resource Names  Verbs
          ---------  -----------------  --------------  -----
          configmaps  []  []  [get list]
          gadgets.gadgets.example.io/status  []  []  [get list]
        $ kubectl describe rolebinding b
        Name:  b
        Labels:  <none>
        Annotations:  <none>
        Role:
          Kind:  Role
          Name:  reader
        Subjects:
          Kind  Name  Namespace
          ----  ----  ---------
          User  ann
          Group  devs
          ServiceAccount  sa  x
        $ kubectl auth can-i list configmaps --as=ann
        yes
        $ kubectl auth can-i list configmaps --as=bob
        no
        (exit 1)
        $ kubectl auth can-i get gadgets --subresource=status --as=system:serviceaccount:x:sa
        yes
        $ kubectl get configmaps --as=ann -o name
        configmap/kube-root-ca.crt
        $ kubectl get configmaps --as=ann -n default
        Error from server (Forbidden): configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "default"
        (exit 1)
    """)  # noqa: E501


def test_cluster_roles(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-metrics"
    kubectl.output("create", "clusterrole", name, "--verb=get", "--non-resource-url=/metrics")
    kubectl.output("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--user={name}")

    assert kubectl.output("auth", "can-i", "get", "/metrics", f"--as={name}") == "yes\n"
    assert kubectl.output("get", "--raw", "/metrics", f"--as={name}").startswith("#")
    assert "[/metrics]" in kubectl.output("describe", "clusterrole", name)
    assert f"ClusterRole/{name}" in kubectl.output("get", "clusterrolebinding", name)
    kubectl.output("delete", "clusterrole,clusterrolebinding", name)


@one_version
def test_a_cluster_role_that_collects(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-sum"
    label = "rbac.authorization.k8s.io/aggregate-to-view=true"
    kubectl.output("create", "clusterrole", name, f"--aggregation-rule={label}")

    first = "jsonpath={.rules[0].resources[0]}"
    kubectl.output("wait", "clusterrole", name, f"--for={first}=gadgets")
    resources = kubectl.output("get", "clusterrole", name, "-o", "jsonpath={.rules[*].resources}")
    assert "configmaps" in resources
    kubectl.output("delete", "clusterrole", name)


def reconciled(kubectl: Kubectl, *flags: str, verb: str, user: str) -> str:
    """What `kubectl auth reconcile` says of a role with that verb, bound to that user."""
    manifest = ROLE_AND_BINDING.replace("NAMESPACE", kubectl.namespace)
    kubectl.write("painter.yaml", manifest.replace("[get]", f"[{verb}]").replace("pablo", user))
    result = kubectl("auth", "reconcile", "-f", "painter.yaml", *flags)
    assert result.code == 0, result.shown
    return result.shown


def test_reconcile(kubectl: Kubectl) -> None:
    assert "reconciliation required create" in reconciled(kubectl, verb="get", user="pablo")
    assert "required" not in reconciled(kubectl, verb="get", user="pablo")
    assert "reconciliation required update" in reconciled(kubectl, verb="list", user="paul")

    assert kubectl.output("auth", "can-i", "get", "configmaps", "--as=paul") == "yes\n"
    assert kubectl.output("auth", "can-i", "list", "configmaps", "--as=pablo") == "yes\n"


@one_version
def test_reconcile_takes_away_what_is_not_in_the_file(kubectl: Kubectl) -> None:
    strict = ("--remove-extra-permissions", "--remove-extra-subjects")
    reconciled(kubectl, verb="get", user="pablo")

    reconciled(kubectl, *strict, verb="list", user="paul")

    rules = kubectl.output("get", "role", "painter", "-o", "jsonpath={.rules}")
    assert rules == '[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]'
    names = "jsonpath={.subjects[*].name}"
    assert kubectl.output("get", "rolebinding", "painter", "-o", names) == "paul"


@one_version
def test_nobody_gives_what_they_do_not_have(kubectl: Kubectl) -> None:
    kubectl.output("create", "rolebinding", "eve", "--clusterrole=admin", "--user=eve")

    kubectl.replays("""
        $ kubectl create role keys --verb=get --resource=secrets --as=eve
        role.rbac.authorization.k8s.io/keys created
        $ kubectl create role keys2 --verb=get,steal --resource=secrets --as=eve
        Warning: 'steal' is not a standard resource verb
        Error from server (Forbidden): roles.rbac.authorization.k8s.io "keys2" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
        {APIGroups:[""], Resources:["secrets"], Verbs:["steal"]}
        (exit 1)
        $ kubectl create rolebinding more --clusterrole=cluster-admin --user=eve --as=eve
        error: failed to create rolebinding: rolebindings.rbac.authorization.k8s.io "more" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
        {APIGroups:["*"], Resources:["*"], Verbs:["*"]}
        {NonResourceURLs:["*"], Verbs:["*"]}
        (exit 1)
    """)  # noqa: E501


@one_version
def test_what_is_wrong_with_a_binding_is_told(kubectl: Kubectl) -> None:
    kubectl.output("create", "rolebinding", "b", "--clusterrole=view", "--user=ann")

    kubectl.replays("""
        $ kubectl patch rolebinding b --type=merge -p '{"roleRef":{"name":"edit"}}'
        The RoleBinding "b" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: field is immutable
        (exit 1)
        $ kubectl create rolebinding c --role=missing --user=zoe
        rolebinding.rbac.authorization.k8s.io/c created
        $ kubectl auth can-i list configmaps --as=zoe
        no - RBAC: role.rbac.authorization.k8s.io "missing" not found
        (exit 1)
    """)  # noqa: E501


@pytest.fixture
def jane(kubectl: Kubectl) -> Kubectl:
    """A user with a certificate, who may look at the namespace of the test."""
    kubectl.output("create", "rolebinding", "jane", "--clusterrole=view", "--user=jane")
    path = kubectl.folder / "jane.kubeconfig"
    server = kubectl.server
    subprocess.run(
        [
            *(sys.executable, "-m", "apiserver", "kubeconfig", "--user", "jane"),
            *("--data-dir", str(server.data_dir), "--server", server.url, "--output", str(path)),
        ],
        check=True,
        cwd=Path(__file__).parent.parent.parent,
    )
    return kubectl.having(KUBECONFIG=str(path))


@one_version
def test_a_user_who_may_only_look_at_one_namespace(kubectl: Kubectl, jane: Kubectl) -> None:
    kubectl.output("create", "configmap", "colors", "--from-literal=door=red")
    here = f"--namespace={kubectl.namespace}"

    assert "colors" in jane.output("get", "configmaps", here)
    assert "No resources found" in jane("get", "gadgets", here).shown
    listed = jane.output("auth", "can-i", "--list", here)
    assert ["configmaps", "[]", "[]", "[get", "list", "watch]"] in map(
        str.split, listed.splitlines()
    )
    for command in (
        ("get", "secrets", here),
        ("delete", "configmap", "colors", here),
        ("get", "configmaps", "--namespace=default"),
        ("get", "configmaps", "--all-namespaces"),
        ("get", "namespaces"),
        ("get", "configmaps", here, "--as=admin"),
    ):
        refused = jane(*command)
        assert refused.code == 1
        assert 'is forbidden: User "jane" cannot' in refused.stderr
