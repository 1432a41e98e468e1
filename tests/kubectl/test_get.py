"""kubectl get in every output form, with selectors, chunks and columns."""

import json

import pytest
import yaml

from tests.kubectl.manifests import LAMP, SETTINGS, SHOP
from tests.kubectl.runner import Kubectl, one_version


@pytest.fixture
def filled(kubectl: Kubectl) -> Kubectl:
    """A namespace with a few objects."""
    kubectl.write("all.yaml", "---\n".join((LAMP, SETTINGS, SHOP)))
    kubectl.output("create", "-f", "all.yaml")
    return kubectl


def test_tables_have_the_columns_of_their_kind(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get gadgets
        NAME   MODEL   DESIRED   READY   AGE
        lamp   a1      2         0       AGE
        $ kubectl get gd -o wide
        NAME   MODEL   DESIRED   READY   AGE   PARTS
        lamp   a1      2         0       AGE   bulb
        $ kubectl get svc three -o wide
        NAME    TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE   SELECTOR
        three   ClusterIP   <none>       <none>        80/TCP    AGE   app=web
        $ kubectl get cm --no-headers --show-kind
        configmap/kube-root-ca.crt   1     AGE
        configmap/one        1     AGE
        configmap/settings   1     AGE
        $ kubectl get cm --show-labels
        NAME       DATA   AGE   LABELS
        kube-root-ca.crt   1      AGE   <none>
        one        1      AGE   app=shop
        settings   1      AGE   app=web
        $ kubectl get cm -L app --sort-by=.metadata.labels.app
        NAME       DATA   AGE   APP
        kube-root-ca.crt   1      AGE
        one        1      AGE   shop
        settings   1      AGE   web
    """)


def test_the_category_all_has_its_kinds(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get all
        NAME            TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
        service/three   ClusterIP   <none>       <none>        80/TCP    AGE
        NAME                             MODEL   DESIRED   READY   AGE
        gadget.gadgets.example.io/lamp   a1      2         0       AGE
    """)


def test_yaml_is_the_whole_object(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get gd lamp -o yaml --show-managed-fields
        apiVersion: gadgets.example.io/v1
        kind: Gadget
        metadata:
          creationTimestamp: "TIME"
          generation: 1
          labels:
            app: light
          managedFields:
          - apiVersion: gadgets.example.io/v1
            fieldsType: FieldsV1
            fieldsV1:
              f:metadata:
                f:labels:
                  .: {}
                  f:app: {}
              f:spec:
                .: {}
                f:model: {}
                f:parts:
                  .: {}
                  k:{"name":"bulb"}:
                    .: {}
                    f:name: {}
                    f:port: {}
                    f:size: {}
                f:replicas: {}
                f:timeoutSeconds: {}
            manager: kubectl-create
            operation: Update
            time: "TIME"
          name: lamp
          namespace: NAMESPACE
          resourceVersion: "VERSION"
          uid: UID
        spec:
          model: a1
          parts:
          - name: bulb
            port: 80
            size: 1500m
          replicas: 2
          timeoutSeconds: 60
        status: {}
    """)


@one_version
def test_json_of_one_and_of_a_list(filled: Kubectl) -> None:
    one = json.loads(filled.output("get", "cm", "settings", "-o", "json"))
    listed = json.loads(filled.output("get", "cm", "-o", "json"))

    assert (one["kind"], one["apiVersion"], one["data"]) == ("ConfigMap", "v1", {"color": "red"})
    assert listed["kind"] == "List"
    assert [item["metadata"]["name"] for item in listed["items"]] == [
        "kube-root-ca.crt",
        "one",
        "settings",
    ]
    assert listed["items"][2] == one


@one_version
def test_an_empty_list_is_said_to_be_empty(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl get gadgets
        No resources found in NAMESPACE namespace.
        $ kubectl get gadgets -o name
        $ kubectl get gadgets -o yaml
        apiVersion: v1
        items: []
        kind: List
        metadata:
          resourceVersion: ""
    """)


def test_names_paths_columns_and_templates(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get cm,gd -o name
        configmap/kube-root-ca.crt
        configmap/one
        configmap/settings
        gadget.gadgets.example.io/lamp
        $ kubectl get gd lamp -o jsonpath={.spec.parts[0].name}/{.spec.parts[?(@.port==80)].size}
        bulb/1500m
        $ kubectl get cm -o custom-columns=WHO:.metadata.name,COLOR:.data.color
        WHO                COLOR
        kube-root-ca.crt   <none>
        one                <none>
        settings   red
        $ kubectl get cm -o go-template='{{range .items}}{{.metadata.name}} {{end}}'
        kube-root-ca.crt one settings
    """)


def test_label_selectors_choose(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get cm -l app=web -o name
        configmap/settings
        $ kubectl get cm -l 'app in (web, shop),!tier' -o name
        configmap/one
        configmap/settings
        $ kubectl get cm -l 'app notin (web)' -o name
        configmap/kube-root-ca.crt
        configmap/one
        $ kubectl get cm,secret -l app!=web -o name
        configmap/kube-root-ca.crt
        configmap/one
        secret/two
    """)


@one_version
def test_field_selectors_choose(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get cm --field-selector metadata.name=one -o name
        configmap/one
        $ kubectl get cm --field-selector metadata.name!=one -o name
        configmap/kube-root-ca.crt
        configmap/settings
        $ kubectl get secret --field-selector type=Opaque -o name
        secret/two
    """)


@one_version
@pytest.mark.parametrize("size", [1, 2, 500])
def test_chunks_together_are_the_list(filled: Kubectl, size: int) -> None:
    for letter in "abcde":
        body = {"metadata": {"name": letter}}
        filled.server.request("POST", f"/api/v1/namespaces/{filled.namespace}/configmaps", body)

    shown = filled.output("get", "cm", f"--chunk-size={size}", "-o", "name")

    names = ("a", "b", "c", "d", "e", "kube-root-ca.crt", "one", "settings")
    assert shown.split() == [f"configmap/{name}" for name in names]


@one_version
def test_all_namespaces_have_a_column_of_their_own(filled: Kubectl) -> None:
    shown = filled.output("get", "secrets", "-A", "--field-selector", "metadata.name=two")

    header, *rows = (line.split() for line in shown.splitlines())
    assert header == ["NAMESPACE", "NAME", "TYPE", "DATA", "AGE"]
    assert [filled.namespace, "two", "Opaque", "1"] in [row[:4] for row in rows]


@one_version
def test_a_missing_object_is_said_to_be_missing(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl get gd lamp
        Error from server (NotFound): gadgets.gadgets.example.io "lamp" not found
        (exit 1)
        $ kubectl get gd lamp --ignore-not-found
        $ kubectl get robots
        error: the server doesn't have a resource type "robots"
        (exit 1)
    """)


def test_subresources_are_shown(filled: Kubectl) -> None:
    filled.replays("""
        $ kubectl get gd lamp --subresource=status
        NAME   MODEL   DESIRED   READY   AGE
        lamp   a1      2         0       AGE
        $ kubectl get gd lamp --subresource=scale -o yaml
        apiVersion: autoscaling/v1
        kind: Scale
        metadata:
          creationTimestamp: "TIME"
          name: lamp
          namespace: NAMESPACE
          resourceVersion: "VERSION"
          uid: UID
        spec:
          replicas: 2
        status:
          replicas: 0
    """)


@one_version
def test_a_version_can_be_chosen(filled: Kubectl) -> None:
    shown = filled("get", "gadgets.v1beta1.gadgets.example.io", "lamp", "-o", "yaml")

    document = yaml.safe_load(shown.stdout)
    assert document["apiVersion"] == "gadgets.example.io/v1beta1"
    assert document["spec"] == {"count": 2, "model": "a1", "timeout": "1m0s"}
    assert shown.stderr == (
        "Warning: gadgets.example.io/v1beta1 Gadget is deprecated; "
        "use gadgets.example.io/v1 Gadget\n"
    )
