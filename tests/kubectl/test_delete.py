"""kubectl delete in all its forms; it waits until what it deleted is gone."""

import pytest

from tests.kubectl.manifests import SHOP
from tests.kubectl.runner import Kubectl, one_version


def create(kubectl: Kubectl, *names: str, **metadata: object) -> None:
    for name in names:
        body = {"metadata": {"name": name, **metadata}}
        path = f"/api/v1/namespaces/{kubectl.namespace}/configmaps"
        assert kubectl.server.request("POST", path, body).code == 201


def test_delete_by_name_file_label_and_all(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("create", "-f", "shop.yaml")
    create(kubectl, "a", "b", labels={"app": "x"})
    create(kubectl, "c", "d", "e")

    kubectl.replays("""
        $ kubectl delete cm c
        configmap "c" deleted
        $ kubectl delete configmap/d
        configmap "d" deleted
        $ kubectl delete cm -l app=x
        configmap "a" deleted
        configmap "b" deleted
        $ kubectl delete -f shop.yaml
        configmap "one" deleted
        secret "two" deleted
        service "three" deleted
        $ kubectl delete -f shop.yaml --ignore-not-found
        $ kubectl delete cm --all -o name
        configmap/e
        configmap/kube-root-ca.crt
        $ kubectl delete cm e
        Error from server (NotFound): configmaps "e" not found
        (exit 1)
    """)


@one_version
def test_delete_by_force(kubectl: Kubectl) -> None:
    create(kubectl, "a")

    result = kubectl("delete", "cm", "a", "--grace-period=0", "--force")

    assert 'configmap "a" force deleted' in result.stdout
    assert result.stderr.startswith("Warning: Immediate deletion does not wait for confirmation")
    assert kubectl("get", "cm", "a").code == 1


@one_version
def test_a_dry_run_deletes_nothing(kubectl: Kubectl) -> None:
    create(kubectl, "a")

    kubectl.replays("""
        $ kubectl delete cm a --dry-run=server
        configmap "a" deleted (server dry run)
        $ kubectl get cm -o name
        configmap/a
        configmap/kube-root-ca.crt
    """)


@pytest.mark.parametrize("cascade", ["background", "foreground", "orphan"])
def test_cascades_wait_until_the_garbage_collector_is_done(kubectl: Kubectl, cascade: str) -> None:
    create(kubectl, "owner")
    uid = kubectl.output("get", "cm", "owner", "-o", "jsonpath={.metadata.uid}")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    create(kubectl, "child", ownerReferences=[{**owner, "blockOwnerDeletion": True}])

    kubectl.output("delete", "cm", "owner", f"--cascade={cascade}", "--timeout=20s")

    assert kubectl("get", "cm", "owner").code == 1
    if cascade == "orphan":
        left = kubectl.output("get", "cm", "child", "-o", "jsonpath={.metadata.ownerReferences}")
        assert left == ""
    else:
        assert kubectl("wait", "--for=delete", "cm/child", "--timeout=20s").code == 0


def test_delete_waits_for_finalizers(kubectl: Kubectl) -> None:
    create(kubectl, "a", finalizers=["example.io/hold"])

    with kubectl.started("delete", "cm", "a", "-v=6") as delete:
        delete.await_log("watch=true")
        kubectl.output("patch", "cm", "a", "-p", '{"metadata":{"finalizers":null}}')
        code = delete.finished()

    assert code == 0
    assert kubectl("get", "cm", "a").code == 1


def test_deleting_a_namespace_empties_it(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("create", "-f", "shop.yaml")

    kubectl.replays(
        """
        $ kubectl delete ns NAMESPACE
        namespace "NAMESPACE" deleted
        $ kubectl get cm,secret,svc
        No resources found in NAMESPACE namespace.
        $ kubectl get ns NAMESPACE
        Error from server (NotFound): namespaces "NAMESPACE" not found
        (exit 1)
    """.replace("NAMESPACE", kubectl.namespace)
    )


@one_version
def test_the_namespaces_of_the_system_stay(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl delete ns default
        Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted
        (exit 1)
    """)  # noqa: E501
