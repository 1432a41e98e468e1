"""One object, applied to in two versions by turns."""

import json

from tests.kubectl.manifests import LAMP, OLD_LAMP
from tests.kubectl.runner import Kubectl, one_version


@one_version
def test_server_side_apply_goes_on_in_another_version(kubectl: Kubectl) -> None:
    """What the manager applied in the one version and not in the other is removed."""
    kubectl.write("new.yaml", LAMP)
    kubectl.write("old.yaml", OLD_LAMP)

    kubectl.output("apply", "--server-side", "-f", "new.yaml")
    kubectl.output("apply", "--server-side", "-f", "old.yaml")
    old = json.loads(kubectl.output("get", "gd", "lamp", "-o", "json", "--show-managed-fields"))
    kubectl.output("apply", "--server-side", "-f", "new.yaml")
    new = json.loads(kubectl.output("get", "gd", "lamp", "-o", "json", "--show-managed-fields"))

    assert old["spec"] == {"model": "a1", "replicas": 3, "timeoutSeconds": 90}
    assert "labels" not in old["metadata"]
    assert [m["apiVersion"] for m in old["metadata"]["managedFields"]] == [
        "gadgets.example.io/v1beta1"
    ]
    # The timeout was the manager's in v1beta1; with nobody wanting it, it has its default again.
    parts = [{"name": "bulb", "port": 80, "size": "1500m"}]
    assert new["spec"] == {"model": "a1", "parts": parts, "replicas": 2, "timeoutSeconds": 60}
    assert new["metadata"]["labels"] == {"app": "light"}
    assert [m["apiVersion"] for m in new["metadata"]["managedFields"]] == ["gadgets.example.io/v1"]


@one_version
def test_conflicts_are_told_in_the_version_of_the_other_manager(kubectl: Kubectl) -> None:
    kubectl.write("new.yaml", LAMP)
    kubectl.write("count.yaml", OLD_LAMP.replace("  model: a1\n", "").replace("  timeout: 90s", ""))
    kubectl.output("apply", "--server-side", "-f", "new.yaml")

    refused = kubectl("apply", "--server-side", "--field-manager=other", "-f", "count.yaml")
    forced = ("apply", "--server-side", "--field-manager=other", "--force-conflicts")
    kubectl.output(*forced, "-f", "count.yaml")
    back = kubectl("apply", "--server-side", "-f", "new.yaml")

    assert 'conflict with "kubectl": .spec.replicas' in refused.stderr
    assert 'conflict with "other": .spec.count' in back.stderr


def test_what_is_deprecated_is_warned_of(kubectl: Kubectl) -> None:
    kubectl.write("old.yaml", OLD_LAMP + "  color: red\n")
    version = "gadgets.example.io/v1beta1 Gadget is deprecated; use gadgets.example.io/v1 Gadget"
    both = [f"Warning: {version}", "Warning: spec.color: deprecated since v1; it has no effect"]

    created = kubectl("create", "-f", "old.yaml")
    applied = kubectl("apply", "--server-side", "--force-conflicts", "-f", "old.yaml")
    patch = ("patch", "gadgets.v1beta1.gadgets.example.io", "lamp", "--type=merge", "-p")
    colored = kubectl(*patch, '{"spec":{"color":"blue"}}')
    counted = kubectl(*patch, '{"spec":{"count":2}}')

    assert (created.code, created.stderr.splitlines()) == (0, both)
    assert (applied.code, applied.stderr.splitlines()) == (0, both)
    assert (colored.code, colored.stderr.splitlines()) == (0, both)
    assert (counted.code, counted.stderr.splitlines()) == (0, both[:1])


def test_explain_says_that_a_field_is_deprecated(kubectl: Kubectl) -> None:
    version = "--api-version=gadgets.example.io/v1beta1"

    shown = kubectl.output("explain", "gadget.spec.color", version)

    lines = [line.strip() for line in shown.splitlines()]
    assert "Color of the gadget." in lines
    assert "Deprecated: since v1; it has no effect" in lines


@one_version
def test_client_side_apply_goes_on_in_another_version(kubectl: Kubectl) -> None:
    kubectl.write("new.yaml", LAMP)
    kubectl.write("old.yaml", OLD_LAMP)

    kubectl.output("apply", "-f", "new.yaml")
    kubectl.output("apply", "-f", "old.yaml")

    spec = json.loads(kubectl.output("get", "gd", "lamp", "-o", "jsonpath={.spec}"))
    assert (spec["replicas"], spec["timeoutSeconds"]) == (3, 90)
