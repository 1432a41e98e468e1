"""A CustomResourceDefinition and what it defines, with every kubectl."""

from collections.abc import Callable

import pytest

from tests.kubectl.runner import Kubectl, one_version
from tests.servers import Server

DEFINITION = """
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata:
      name: widgets.GROUP
    spec:
      group: GROUP
      scope: Namespaced
      names: {plural: widgets, kind: Widget, shortNames: [wd]}
      versions:
      - name: v1
        served: true
        storage: true
        subresources:
          status: {}
          scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
        additionalPrinterColumns:
        - {name: Color, type: string, jsonPath: .spec.color}
        - {name: Replicas, type: integer, jsonPath: .spec.replicas, priority: 1}
        schema:
          openAPIV3Schema:
            description: A Widget does things.
            type: object
            required: [spec]
            properties:
              spec:
                description: What the widget should be.
                type: object
                required: [color]
                properties:
                  color: {type: string, enum: [red, blue], description: Its color.}
                  replicas: {type: integer, minimum: 0, default: 1}
              status:
                type: object
                properties:
                  replicas: {type: integer}
"""
WIDGET = """
    apiVersion: GROUP/v1
    kind: Widget
    metadata: {name: lamp}
    spec: {color: red}
"""


@pytest.fixture
def group(namespace: str) -> str:
    """A group that no other test has."""
    return f"{namespace}.example.io"


@pytest.fixture
def widgets(kubectl: Kubectl, group: str, server: Server) -> Callable[[str], None]:
    """The transcript runner of a shell in which widgets are defined."""
    kubectl.write("crd.yaml", DEFINITION.replace("GROUP", group))
    kubectl.write("lamp.yaml", WIDGET.replace("GROUP", group))

    def replays(transcript: str) -> None:
        kubectl.replays(transcript.replace("GROUP", group))

    return replays


@one_version
def test_the_life_of_a_custom_resource(widgets: Callable[[str], None]) -> None:
    widgets("""
        $ kubectl apply -f crd.yaml
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP created
        $ kubectl wait --for=condition=Established crd/widgets.GROUP
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP condition met
        $ kubectl apply -f lamp.yaml
        widget.GROUP/lamp created
        $ kubectl apply -f lamp.yaml
        widget.GROUP/lamp unchanged
        $ kubectl get widgets.GROUP -o wide
        NAME   COLOR   REPLICAS
        lamp   red     1
        $ kubectl scale widgets.GROUP/lamp --replicas=3
        widget.GROUP/lamp scaled
        $ kubectl patch widgets.GROUP lamp --type=merge -p '{"spec":{"color":"blue"}}'
        widget.GROUP/lamp patched
        $ kubectl patch widgets.GROUP lamp --type=json -p '[{"op":"remove","path":"/spec/color"}]'
        The Widget "lamp" is invalid: spec.color: Required value
        (exit 1)
        $ kubectl get widgets.GROUP lamp -o jsonpath={.spec}
        {"color":"blue","replicas":3}
        $ kubectl delete crd widgets.GROUP
        customresourcedefinition.apiextensions.k8s.io "widgets.GROUP" deleted
    """)


def test_every_kubectl_finds_what_was_just_defined(
    widgets: Callable[[str], None], kubectl: Kubectl, group: str
) -> None:
    widgets("""
        $ kubectl apply -f crd.yaml
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP created
        $ kubectl apply -f lamp.yaml
        widget.GROUP/lamp created
        $ kubectl get widgets.GROUP
        NAME   COLOR
        lamp   red
    """)
    shown = kubectl.output("explain", "widgets.spec.color", f"--api-version={group}/v1")

    assert "Its color." in shown


@one_version
def test_what_a_schema_refuses_is_said(
    widgets: Callable[[str], None], kubectl: Kubectl, group: str
) -> None:
    kubectl.write("odd.yaml", WIDGET.replace("GROUP", group).replace("red", "red, odd: 1"))

    widgets("""
        $ kubectl apply -f crd.yaml
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP created
        $ kubectl wait --for=condition=Established crd/widgets.GROUP
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP condition met
        $ kubectl apply -f odd.yaml --validate=warn
        widget.GROUP/lamp created
        Warning: unknown field "spec.odd"
        $ kubectl apply --server-side -f lamp.yaml --field-manager=me
        widget.GROUP/lamp serverside-applied
        $ kubectl label widgets.GROUP lamp a=b
        widget.GROUP/lamp labeled
        $ kubectl get widgets.GROUP -l a=b -o name
        widget.GROUP/lamp
        $ kubectl patch widgets.GROUP lamp --subresource=status --type=merge -p '{"status":{}}'
        widget.GROUP/lamp patched
        $ kubectl get widgets.GROUP lamp -o jsonpath={.status}
        {}
    """)
    refused = kubectl("apply", "-f", "odd.yaml")

    assert refused.shown.endswith('strict decoding error: unknown field "spec.odd"\n')
    kubectl.output("delete", "crd", f"widgets.{group}")


@one_version
def test_edit(widgets: Callable[[str], None], kubectl: Kubectl, group: str) -> None:
    widgets("""
        $ kubectl apply -f crd.yaml
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP created
        $ kubectl wait --for=condition=Established crd/widgets.GROUP
        customresourcedefinition.apiextensions.k8s.io/widgets.GROUP condition met
        $ kubectl create -f lamp.yaml
        widget.GROUP/lamp created
    """)
    editor = kubectl.having(KUBE_EDITOR="sed -i s/red/blue/")

    shown = editor.output("edit", f"widgets.{group}", "lamp")

    assert shown == f"widget.{group}/lamp edited\n"
    kubectl.output("delete", "crd", f"widgets.{group}")
