"""kubectl create: from files, from its generators, and without effect."""

import json

from tests.kubectl.manifests import LAMP, OLD_LAMP, SHOP
from tests.kubectl.runner import Kubectl, one_version


def test_a_yaml_file_creates_an_object_once(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)

    kubectl.replays("""
        $ kubectl create -f lamp.yaml
        gadget.gadgets.example.io/lamp created
        $ kubectl create -f lamp.yaml
        Error from server (AlreadyExists): error when creating "lamp.yaml": gadgets.gadgets.example.io "lamp" already exists
        (exit 1)
    """)  # noqa: E501


@one_version
def test_a_json_file_creates_an_object(kubectl: Kubectl) -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}}
    kubectl.write("made.json", json.dumps(made))

    name = kubectl.output("create", "-f", "made.json", "-o", "name").strip()

    assert name.startswith("configmap/made-")
    assert len(name) == len("configmap/made-") + 5


def test_a_file_of_several_documents_creates_them_in_order(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)

    kubectl.replays("""
        $ kubectl create -f shop.yaml
        configmap/one created
        secret/two created
        service/three created
        $ kubectl get -f shop.yaml -o name
        configmap/one
        secret/two
        service/three
    """)


def test_generators_create_what_they_say(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create configmap colors --from-literal=a=red --from-literal=b=blue
        configmap/colors created
        $ kubectl create secret generic key --from-literal=a=b
        secret/key created
        $ kubectl create serviceaccount robot
        serviceaccount/robot created
        $ kubectl create service clusterip web --tcp=80:8080
        service/web created
        $ kubectl create service externalname far --external-name=example.com
        service/far created
        $ kubectl get cm,secret,sa,svc
        NAME               DATA   AGE
        configmap/colors   2      AGE
        configmap/kube-root-ca.crt   1      AGE
        NAME         TYPE     DATA   AGE
        secret/key   Opaque   1      AGE
        NAME                   AGE
        serviceaccount/default   AGE
        serviceaccount/robot   AGE
        NAME          TYPE           CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
        service/far   ExternalName   <none>       example.com   <none>    AGE
        service/web   ClusterIP      <none>       <none>        80/TCP    AGE
    """)


def test_a_namespace_is_created_by_name(kubectl: Kubectl) -> None:
    more = f"{kubectl.namespace}-more"

    kubectl.replays(f"""
        $ kubectl create namespace {more}
        namespace/{more} created
        $ kubectl get ns {more}
        NAME     STATUS   AGE
        {more}   Active   AGE
    """)


def test_a_dry_run_stores_nothing(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)

    kubectl.replays("""
        $ kubectl create -f lamp.yaml --dry-run=server
        gadget.gadgets.example.io/lamp created (server dry run)
        $ kubectl create -f lamp.yaml --dry-run=client
        gadget.gadgets.example.io/lamp created (dry run)
        $ kubectl create cm dry --from-literal=a=b --dry-run=server -o yaml
        apiVersion: v1
        data:
          a: b
        kind: ConfigMap
        metadata:
          creationTimestamp: "TIME"
          name: dry
          namespace: NAMESPACE
          uid: UID
        $ kubectl get gd,cm -o name
        configmap/kube-root-ca.crt
    """)


@one_version
def test_a_dry_run_of_the_server_fills_defaults_in(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    path = "jsonpath={.spec.timeoutSeconds}"

    assert kubectl.output("create", "-f", "lamp.yaml", "--dry-run=server", "-o", path) == "60"
    assert kubectl.output("create", "-f", "lamp.yaml", "--dry-run=client", "-o", path) == ""


@one_version
def test_what_is_written_in_an_old_version_is_read_in_the_new(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", OLD_LAMP)

    kubectl.replays("""
        $ kubectl create -f lamp.yaml
        gadget.gadgets.example.io/lamp created
        Warning: gadgets.example.io/v1beta1 Gadget is deprecated; use gadgets.example.io/v1 Gadget
        $ kubectl get gadget lamp -o yaml
        apiVersion: gadgets.example.io/v1
        kind: Gadget
        metadata:
          creationTimestamp: "TIME"
          generation: 1
          name: lamp
          namespace: NAMESPACE
          resourceVersion: "VERSION"
          uid: UID
        spec:
          model: a1
          replicas: 3
          timeoutSeconds: 90
        status: {}
    """)


def test_unknown_and_repeated_fields_are_refused(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP + "  shine: bright\n  glow: 1\n")

    result = kubectl("create", "-f", "lamp.yaml")

    assert result.code == 1
    assert result.stderr == (
        'Error from server (BadRequest): error when creating "lamp.yaml": Gadget in version "v1" '
        'cannot be handled as a Gadget: strict decoding error: unknown field "spec.glow", unknown '
        'field "spec.shine"\n'
    )


@one_version
def test_unknown_fields_are_dropped_with_a_warning_when_asked(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP + "  shine: bright\n")

    kubectl.replays("""
        $ kubectl create -f lamp.yaml --validate=warn
        gadget.gadgets.example.io/lamp created
        Warning: unknown field "spec.shine"
        $ kubectl get gd lamp -o jsonpath={.spec}
        {"model":"a1","parts":[{"name":"bulb","port":80,"size":"1500m"}],"replicas":2,"timeoutSeconds":60}
    """)
