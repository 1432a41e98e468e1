"""kubectl apply on both sides, diff, prune and kustomize."""

import json

import yaml

from tests.kubectl.manifests import LAMP, SETTINGS, SHOP
from tests.kubectl.runner import Kubectl, one_version

BRIGHTER = LAMP.replace("replicas: 2", "replicas: 7")


def test_apply_creates_changes_and_leaves_alone(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.write("brighter.yaml", BRIGHTER)

    kubectl.replays("""
        $ kubectl apply -f lamp.yaml
        gadget.gadgets.example.io/lamp created
        $ kubectl apply -f lamp.yaml
        gadget.gadgets.example.io/lamp unchanged
        $ kubectl apply -f brighter.yaml
        gadget.gadgets.example.io/lamp configured
        $ kubectl get gd lamp -o jsonpath={.spec.replicas},{.metadata.generation}
        7,2
        $ kubectl apply view-last-applied gd/lamp
        apiVersion: gadgets.example.io/v1
        kind: Gadget
        metadata:
          annotations: {}
          labels:
            app: light
          name: lamp
          namespace: NAMESPACE
        spec:
          model: a1
          parts:
          - name: bulb
            port: 80
            size: 1500m
          replicas: 7
    """)


def test_apply_removes_what_left_the_file_and_keeps_what_others_added(kubectl: Kubectl) -> None:
    kubectl.write("settings.yaml", SETTINGS + "  size: big\n")
    kubectl.output("apply", "-f", "settings.yaml")
    kubectl.output("patch", "cm", "settings", "-p", '{"data":{"theirs":"kept"}}')
    kubectl.write("settings.yaml", SETTINGS)

    kubectl.replays("""
        $ kubectl apply -f settings.yaml
        configmap/settings configured
        $ kubectl get cm settings -o jsonpath={.data}
        {"color":"red","theirs":"kept"}
    """)


@one_version
def test_apply_merges_lists_of_a_builtin_kind_by_key(kubectl: Kubectl) -> None:
    service = SHOP.split("---\n")[2]
    kubectl.write("service.yaml", service)
    kubectl.write("named.yaml", service.replace("- port: 80", "- name: http\n    port: 80"))

    kubectl.replays("""
        $ kubectl apply -f service.yaml
        service/three created
        $ kubectl apply -f named.yaml
        service/three configured
        $ kubectl get svc three -o jsonpath={.spec.ports}
        [{"name":"http","port":80,"protocol":"TCP","targetPort":8080}]
    """)


@one_version
def test_apply_adopts_what_was_created_without_it(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.output("create", "-f", "lamp.yaml")

    result = kubectl("apply", "-f", "lamp.yaml")

    assert result.stdout == "gadget.gadgets.example.io/lamp configured\n"
    assert result.stderr.startswith("Warning: resource gadgets/lamp is missing the kubectl.")


@one_version
def test_apply_without_effect(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)

    kubectl.replays("""
        $ kubectl apply -f lamp.yaml --dry-run=server
        gadget.gadgets.example.io/lamp created (server dry run)
        $ kubectl apply -f lamp.yaml --server-side --dry-run=server
        gadget.gadgets.example.io/lamp serverside-applied (server dry run)
        $ kubectl get gd
        No resources found in NAMESPACE namespace.
    """)


def test_server_side_apply_tells_conflicts(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.write("brighter.yaml", BRIGHTER)

    kubectl.replays("""
        $ kubectl apply --server-side -f lamp.yaml
        gadget.gadgets.example.io/lamp serverside-applied
    """)
    refused = kubectl("apply", "--server-side", "--field-manager=other", "-f", "brighter.yaml")
    kubectl.replays("""
        $ kubectl apply --server-side --field-manager=other --force-conflicts -f brighter.yaml
        gadget.gadgets.example.io/lamp serverside-applied
        $ kubectl get gd lamp -o jsonpath={.spec.replicas}
        7
    """)

    assert refused.code == 1
    assert refused.stderr.splitlines()[:2] == [
        'error: Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas',
        "Please review the fields above--they currently have other managers. Here",
    ]


@one_version
def test_several_conflicts_are_listed_by_manager(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.write("other.yaml", BRIGHTER.replace("model: a1", "model: b2"))
    kubectl.output("apply", "--server-side", "-f", "lamp.yaml")

    refused = kubectl("apply", "--server-side", "--field-manager=other", "-f", "other.yaml")

    assert refused.stderr.splitlines()[:3] == [
        'error: Apply failed with 2 conflicts: conflicts with "kubectl":',
        "- .spec.model",
        "- .spec.replicas",
    ]


@one_version
def test_server_side_apply_removes_what_only_it_had_set(kubectl: Kubectl) -> None:
    kubectl.write("settings.yaml", SETTINGS + "  size: big\n  mine: yes-please\n")
    kubectl.write("theirs.yaml", SETTINGS + "  size: big\n")
    kubectl.output("apply", "--server-side", "-f", "settings.yaml")
    kubectl.output("apply", "--server-side", "--field-manager=other", "-f", "theirs.yaml")
    kubectl.write("settings.yaml", SETTINGS)

    kubectl.replays("""
        $ kubectl apply --server-side -f settings.yaml
        configmap/settings serverside-applied
        $ kubectl get cm settings -o jsonpath={.data}
        {"color":"red","size":"big"}
    """)


def test_server_side_apply_of_the_status_owns_only_that(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.write("lit.yaml", LAMP + "status:\n  readyReplicas: 2\n")
    kubectl.output("apply", "--server-side", "-f", "lamp.yaml")
    status = ("apply", "--server-side", "--subresource=status", "--field-manager=watcher")

    result = kubectl(*status, "-f", "lit.yaml")

    if kubectl.version < (1, 32):
        assert result.stderr.startswith("error: unknown flag: --subresource")
        return
    assert result.stdout == "gadget.gadgets.example.io/lamp serverside-applied\n"
    shown = json.loads(kubectl.output("get", "gd", "lamp", "-o", "json", "--show-managed-fields"))
    (entry,) = (m for m in shown["metadata"]["managedFields"] if m["manager"] == "watcher")
    assert (entry["operation"], entry["subresource"]) == ("Apply", "status")
    assert entry["fieldsV1"] == {"f:status": {"f:readyReplicas": {}}}
    assert shown["status"] == {"readyReplicas": 2}


def test_client_side_apply_is_taken_over_by_server_side_apply(kubectl: Kubectl) -> None:
    kubectl.write("settings.yaml", SETTINGS + "  size: big\n")
    kubectl.output("apply", "-f", "settings.yaml")
    kubectl.output("apply", "--server-side", "-f", "settings.yaml")
    kubectl.write("settings.yaml", SETTINGS)

    kubectl.output("apply", "--server-side", "-f", "settings.yaml")

    shown = json.loads(
        kubectl.output("get", "cm", "settings", "-o", "json", "--show-managed-fields")
    )
    assert shown["data"] == {"color": "red"}
    managers = {(m["manager"], m["operation"]) for m in shown["metadata"]["managedFields"]}
    assert managers == {("kubectl", "Apply"), ("kubectl-last-applied", "Apply")}


def test_diff_shows_what_apply_would_change(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.write("brighter.yaml", BRIGHTER)
    kubectl.output("apply", "--server-side", "-f", "lamp.yaml")

    same = kubectl("diff", "--server-side", "-f", "lamp.yaml")
    shown = kubectl("diff", "--server-side", "-f", "brighter.yaml")

    assert (same.shown, same.code) == ("", 0)
    assert shown.code == 1
    changed = [line for line in shown.stdout.splitlines() if line[:2] in ("- ", "+ ")]
    assert changed == ["-  generation: 1", "+  generation: 2", "-  replicas: 2", "+  replicas: 7"]


def test_diff_of_the_client_and_of_what_is_not_there_yet(kubectl: Kubectl) -> None:
    kubectl.write("settings.yaml", SETTINGS)

    new = kubectl("diff", "-f", "settings.yaml")
    kubectl.output("apply", "-f", "settings.yaml")
    same = kubectl("diff", "-f", "settings.yaml")

    assert new.code == 1
    assert "+  color: red" in new.stdout.splitlines()
    assert (same.shown, same.code) == ("", 0)


def test_apply_prunes_what_left_the_folder(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("apply", "-f", "shop.yaml")
    kubectl.write("shop.yaml", SHOP.split("---\n")[0])

    result = kubectl(
        *("apply", "-f", "shop.yaml", "--prune", "-l", "app=shop"),
        *("--prune-allowlist=core/v1/Secret", "--prune-allowlist=core/v1/ConfigMap"),
    )

    assert result.stdout.splitlines() == ["configmap/one unchanged", "secret/two pruned"]
    assert kubectl.output("get", "secret,cm", "-l", "app=shop", "-o", "name") == "configmap/one\n"


def test_kustomize_builds_and_applies(kubectl: Kubectl) -> None:
    kubectl.write("base/shop.yaml", SHOP)
    kubectl.write("base/kustomization.yaml", "namePrefix: my-\nresources:\n- shop.yaml\n")

    built = list(yaml.safe_load_all(kubectl.output("kustomize", "base")))

    assert [document["metadata"]["name"] for document in built] == ["my-one", "my-two", "my-three"]
    kubectl.replays("""
        $ kubectl apply -k base
        configmap/my-one created
        secret/my-two created
        service/my-three created
        $ kubectl delete -k base
        configmap "my-one" deleted
        secret "my-two" deleted
        service "my-three" deleted
    """)
