"""kubectl describe and events."""

from tests.kubectl.manifests import LAMP, SHOP
from tests.kubectl.runner import Kubectl


def test_describe_data_of_config_maps_and_secrets(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("create", "-f", "shop.yaml")

    kubectl.replays("""
        $ kubectl describe cm one
        Name:         one
        Namespace:    NAMESPACE
        Labels:       app=shop
        Annotations:  <none>
        Data
        ====
        k:
        ----
        v
        BinaryData
        ====
        Events:  <none>
        $ kubectl describe secret two
        Name:         two
        Namespace:    NAMESPACE
        Labels:       app=shop
        Annotations:  <none>
        Type:  Opaque
        Data
        ====
        password:  7 bytes
    """)


def test_describe_a_service(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("create", "-f", "shop.yaml")

    shown = kubectl.output("describe", "svc", "three")

    words = [" ".join(line.split()) for line in shown.splitlines()]
    for line in ("Name: three", "Selector: app=web", "Type: ClusterIP", "TargetPort: 8080/TCP"):
        assert line in words


def test_describe_a_namespace(kubectl: Kubectl) -> None:
    shown = kubectl.output("describe", "ns", kubectl.namespace)

    words = [" ".join(line.split()) for line in shown.splitlines()]
    assert words[:4] == [
        f"Name: {kubectl.namespace}",
        f"Labels: kubernetes.io/metadata.name={kubectl.namespace}",
        "Annotations: <none>",
        "Status: Active",
    ]


def test_describe_a_kind_kubectl_has_never_heard_of(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.output("create", "-f", "lamp.yaml")

    kubectl.replays("""
        $ kubectl describe gadget lamp
        Name:         lamp
        Namespace:    NAMESPACE
        Labels:       app=light
        Annotations:  <none>
        API Version:  gadgets.example.io/v1
        Kind:         Gadget
        Metadata:
          Creation Timestamp:  TIME
          Generation:          1
          Resource Version:    VERSION
          UID:                 UID
        Spec:
          Model:  a1
          Parts:
            Name:           bulb
            Port:           80
            Size:           1500m
          Replicas:         2
          Timeout Seconds:  60
        Status:
        Events:  <none>
    """)


def test_events_are_shown_with_their_object_and_on_their_own(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    kubectl.output("create", "-f", "lamp.yaml")
    path = f"/apis/gadgets.example.io/v1/namespaces/{kubectl.namespace}/gadgets/lamp"
    lamp = kubectl.server.request("GET", path).json
    event = {
        "metadata": {"name": "lamp.1"},
        "involvedObject": {
            "kind": "Gadget",
            "apiVersion": "gadgets.example.io/v1",
            "name": "lamp",
            "namespace": kubectl.namespace,
            "uid": lamp["metadata"]["uid"],
        },
        "type": "Warning",
        "reason": "Broken",
        "message": "the bulb is out",
        "firstTimestamp": "2024-01-01T00:00:00Z",
        "lastTimestamp": "2024-01-01T00:00:00Z",
        "count": 1,
        "source": {"component": "lamplighter"},
    }
    events = f"/api/v1/namespaces/{kubectl.namespace}/events"
    assert kubectl.server.request("POST", events, event).code == 201

    described = kubectl.output("describe", "gd", "lamp").splitlines()
    listed = kubectl.output("events", "--for", "gadget/lamp").splitlines()
    table = kubectl.output("get", "ev", "--field-selector", "reason=Broken").splitlines()

    assert described[-1].split()[:2] == ["Warning", "Broken"]
    assert described[-1].endswith("lamplighter  the bulb is out")
    assert listed[0].split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert listed[1].split()[1:] == ["Warning", "Broken", "Gadget/lamp", "the", "bulb", "is", "out"]
    assert table[0].split() == listed[0].split()
    assert table[1].split()[1:] == ["Warning", "Broken", "gadget/lamp", "the", "bulb", "is", "out"]


NEW_EVENT = """\
apiVersion: events.k8s.io/v1
kind: Event
metadata:
  name: lamp.1
eventTime: "2030-01-01T00:00:00.000000Z"
reportingController: example.io/gadgets
reportingInstance: gadgets-1
action: Scale
reason: Scaled
regarding:
  kind: Gadget
  name: lamp
  namespace: {namespace}
note: scaled to 3
type: Normal
"""


def test_events_are_seen_through_both_groups(kubectl: Kubectl) -> None:
    kubectl.write("event.yaml", NEW_EVENT.format(namespace=kubectl.namespace))

    kubectl.replays("""
        $ kubectl create -f event.yaml
        event.events.k8s.io/lamp.1 created
        $ kubectl get events.events.k8s.io -o jsonpath={.items[*].note}
        scaled to 3
        $ kubectl get events -o jsonpath={.items[*].message}
        scaled to 3
        $ kubectl get events.events.k8s.io --field-selector regarding.name=lamp -o name
        event.events.k8s.io/lamp.1
        $ kubectl get events --field-selector involvedObject.name=lamp -o name
        event/lamp.1
        $ kubectl delete events.events.k8s.io lamp.1
        event.events.k8s.io "lamp.1" deleted
        $ kubectl events
        No events found in NAMESPACE namespace.
    """)
