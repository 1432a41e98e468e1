"""kubectl label, annotate, patch, replace, edit, scale and set."""

import pytest
import yaml

from tests.kubectl.manifests import LAMP, SETTINGS, SHOP
from tests.kubectl.runner import Kubectl, one_version


@pytest.fixture
def lamp(kubectl: Kubectl) -> Kubectl:
    """A namespace with a gadget."""
    kubectl.write("lamp.yaml", LAMP)
    body = yaml.safe_load(LAMP)
    path = f"/apis/gadgets.example.io/v1/namespaces/{kubectl.namespace}/gadgets"
    assert kubectl.server.request("POST", path, body).code == 201
    return kubectl


def test_labels_are_set_changed_and_removed(lamp: Kubectl) -> None:
    lamp.replays("""
        $ kubectl label gd lamp room=hall
        gadget.gadgets.example.io/lamp labeled
        $ kubectl label gd lamp room=hall
        gadget.gadgets.example.io/lamp not labeled
        $ kubectl label gd lamp room=attic
        error: 'room' already has a value (hall), and --overwrite is false
        (exit 1)
        $ kubectl label gd lamp room=attic --overwrite
        gadget.gadgets.example.io/lamp labeled
        $ kubectl label gd lamp room-
        gadget.gadgets.example.io/lamp unlabeled
        $ kubectl get gd lamp -o jsonpath={.metadata.labels}
        {"app":"light"}
    """)


def test_annotations_are_set_and_removed(lamp: Kubectl) -> None:
    done = "annotate" if lamp.version < (1, 28) else "annotated"

    lamp.replays(f"""
        $ kubectl annotate gd lamp note='needs a bulb'
        gadget.gadgets.example.io/lamp {done}
        $ kubectl annotate gd --all note='has a bulb' --overwrite
        gadget.gadgets.example.io/lamp {done}
        $ kubectl get gd lamp -o jsonpath={{.metadata.annotations}}
        {{"note":"has a bulb"}}
        $ kubectl annotate gd lamp note-
        gadget.gadgets.example.io/lamp {done}
        $ kubectl get gd lamp -o jsonpath={{.metadata.annotations}}
    """)


def test_every_type_of_patch(lamp: Kubectl) -> None:
    lamp.replays("""
        $ kubectl patch gd lamp --type=json -p '[{"op":"replace","path":"/spec/parts/0/name","value":"tube"}]'
        gadget.gadgets.example.io/lamp patched
        $ kubectl patch gd lamp --type=merge -p '{"spec":{"replicas":5}}'
        gadget.gadgets.example.io/lamp patched
        $ kubectl patch gd lamp --type=merge -p '{"spec":{"replicas":5}}'
        gadget.gadgets.example.io/lamp patched (no change)
        $ kubectl patch gd lamp --type=strategic -p '{"spec":{"parts":[{"name":"cord"},{"name":"tube","$patch":"delete"}]}}'
        gadget.gadgets.example.io/lamp patched
        $ kubectl get gd lamp -o jsonpath={.spec}{.metadata.generation}
        {"model":"a1","parts":[{"name":"cord","size":"1"}],"replicas":5,"timeoutSeconds":60}4
    """)  # noqa: E501


@one_version
def test_a_strategic_patch_merges_ports_by_their_key(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("create", "-f", "shop.yaml")
    ports = "jsonpath={range .spec.ports[*]}{.name}:{.port}->{.targetPort} {end}"

    kubectl.replays("""
        $ kubectl patch svc three -p '{"spec":{"ports":[{"port":443}]}}'
        The Service "three" is invalid:
        * spec.ports[0].name: Required value
        * spec.ports[1].name: Required value
        (exit 1)
        $ kubectl patch svc three -p '{"spec":{"ports":[{"port":80,"name":"http"},{"port":443,"name":"https"}]}}'
        service/three patched
    """)  # noqa: E501

    assert kubectl.output("get", "svc", "three", "-o", ports) == "http:80->8080 https:443->443 "


def test_a_patch_of_the_status_changes_nothing_else(lamp: Kubectl) -> None:
    lamp.replays("""
        $ kubectl patch gd lamp --type=merge --subresource=status -p '{"spec":{"model":"b"},"status":{"readyReplicas":2}}'
        gadget.gadgets.example.io/lamp patched
        $ kubectl get gd lamp
        NAME   MODEL   DESIRED   READY   AGE
        lamp   a1      2         2       AGE
        $ kubectl patch gd lamp --type=merge -p '{"status":{"readyReplicas":7}}'
        gadget.gadgets.example.io/lamp patched (no change)
        $ kubectl get gd lamp -o jsonpath={.metadata.generation}
        1
    """)  # noqa: E501


def test_a_patch_of_the_scale_changes_the_replicas(lamp: Kubectl) -> None:
    lamp.replays("""
        $ kubectl patch gd lamp --subresource=scale --type=merge -p '{"spec":{"replicas":4}}' -o jsonpath={.spec}
        {"replicas":4}
        $ kubectl patch gd lamp --subresource=scale --type=json -p '[{"op":"replace","path":"/spec/replicas","value":101}]'
        The Gadget "lamp" is invalid: spec.replicas: Invalid value: 101: spec.replicas in body should be less than or equal to 100
        (exit 1)
        $ kubectl get gd lamp -o jsonpath={.spec.replicas},{.metadata.generation}
        4,2
    """)  # noqa: E501


def test_replace_puts_the_file_in_the_place_of_the_object(lamp: Kubectl) -> None:
    lamp.write("lamp.yaml", LAMP.replace("replicas: 2", "replicas: 7"))

    lamp.replays("""
        $ kubectl replace -f lamp.yaml
        gadget.gadgets.example.io/lamp replaced
        $ kubectl get gd lamp -o jsonpath={.spec.replicas},{.metadata.generation}
        7,2
    """)


def test_replace_by_force_makes_a_new_object(lamp: Kubectl) -> None:
    uid = ("get", "gd", "lamp", "-o", "jsonpath={.metadata.uid}")
    before = lamp.output(*uid)

    lamp.replays("""
        $ kubectl replace --force -f lamp.yaml
        gadget.gadgets.example.io "lamp" deleted
        gadget.gadgets.example.io/lamp replaced
    """)

    assert lamp.output(*uid) != before


@one_version
def test_replace_refuses_what_somebody_else_has_changed(lamp: Kubectl) -> None:
    seen = lamp.output("get", "gd", "lamp", "-o", "yaml")
    lamp.output("label", "gd", "lamp", "room=hall")
    lamp.write("lamp.yaml", seen)

    lamp.replays("""
        $ kubectl replace -f lamp.yaml
        Error from server (Conflict): error when replacing "lamp.yaml": Operation cannot be fulfilled on gadgets.gadgets.example.io "lamp": the object has been modified; please apply your changes to the latest version and try again
        (exit 1)
    """)  # noqa: E501


def test_edit_saves_what_the_editor_wrote(lamp: Kubectl) -> None:
    editor = lamp.write("editor", "#!/bin/sh\nsed -i 's/model: a1/model: b2/' \"$1\"\n")
    editor.chmod(0o700)

    lamp.having(KUBE_EDITOR=str(editor)).replays("""
        $ kubectl edit gd lamp
        gadget.gadgets.example.io/lamp edited
        $ kubectl get gd lamp -o jsonpath={.spec.model}
        b2
    """)


@one_version
def test_edit_without_a_change_writes_nothing(lamp: Kubectl) -> None:
    lamp.having(KUBE_EDITOR="true").replays("""
        $ kubectl edit gd lamp
        Edit cancelled, no changes made.
        $ kubectl get gd lamp -o jsonpath={.metadata.generation}
        1
    """)


@one_version
def test_edit_shows_what_the_server_did_not_accept(lamp: Kubectl) -> None:
    """The editor is opened again with the reason on top; changing nothing then gives up."""
    editor = lamp.write("editor", "#!/bin/sh\nsed -i 's/replicas: 2/replicas: -1/' \"$1\"\n")
    editor.chmod(0o700)

    result = lamp.having(KUBE_EDITOR=str(editor))("edit", "gd", "lamp")

    assert result.code == 1
    assert 'gadgets.gadgets.example.io "lamp" is invalid' in result.stderr
    reason = (
        "# * spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or "
        "equal to 0\n"
    )
    assert any(reason in kept.read_text() for kept in lamp.folder.glob("kubectl*-edit-*.yaml"))


def test_scale_sets_the_replicas(lamp: Kubectl) -> None:
    lamp.replays("""
        $ kubectl scale gd lamp --replicas=5
        gadget.gadgets.example.io/lamp scaled
        $ kubectl scale gd/lamp --replicas=6 --current-replicas=4
        error: Expected replicas to be 4, was 5
        (exit 1)
        $ kubectl get gd lamp
        NAME   MODEL   DESIRED   READY   AGE
        lamp   a1      5         0       AGE
    """)


def test_set_selector_of_a_service(kubectl: Kubectl) -> None:
    kubectl.write("shop.yaml", SHOP)
    kubectl.output("create", "-f", "shop.yaml")

    kubectl.replays("""
        $ kubectl set selector svc three app=store
        service/three selector updated
        $ kubectl get svc three -o jsonpath={.spec.selector}
        {"app":"store"}
    """)


@one_version
def test_immutable_data_stays(kubectl: Kubectl) -> None:
    kubectl.write("settings.yaml", SETTINGS + "immutable: true\n")
    kubectl.output("create", "-f", "settings.yaml")

    kubectl.replays("""
        $ kubectl patch cm settings -p '{"data":{"color":"blue"}}'
        The ConfigMap "settings" is invalid: data: Forbidden: field is immutable when `immutable` is set
        (exit 1)
    """)  # noqa: E501
