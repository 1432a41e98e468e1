"""What a server is and has: api-resources, api-versions, explain, cluster-info, version, raw."""

import json

from tests.kubectl.runner import Kubectl, one_version

RESOURCES = """
    NAME                        SHORTNAMES   APIVERSION                 NAMESPACED   KIND
    configmaps                  cm           v1                         true         ConfigMap
    events                      ev           v1                         true         Event
    namespaces                  ns           v1                         false        Namespace
    secrets                                  v1                         true         Secret
    serviceaccounts             sa           v1                         true         ServiceAccount
    services                    svc          v1                         true         Service
    selfsubjectreviews                       authentication.k8s.io/v1   false        SelfSubjectReview
    tokenreviews                             authentication.k8s.io/v1   false        TokenReview
    localsubjectaccessreviews                authorization.k8s.io/v1    true         LocalSubjectAccessReview
    selfsubjectaccessreviews                 authorization.k8s.io/v1    false        SelfSubjectAccessReview
    selfsubjectrulesreviews                  authorization.k8s.io/v1    false        SelfSubjectRulesReview
    subjectaccessreviews                     authorization.k8s.io/v1    false        SubjectAccessReview
    leases                                   coordination.k8s.io/v1     true         Lease
    gadgets                     gd           gadgets.example.io/v1      true         Gadget
"""  # noqa: E501


def test_api_resources_are_those_of_the_groups(kubectl: Kubectl) -> None:
    """Each line must be there; a server may bring more groups."""
    shown = {" ".join(line.split()) for line in kubectl.output("api-resources").splitlines()}

    assert {" ".join(line.split()) for line in RESOURCES.strip().splitlines()} <= shown


def test_api_resources_by_category_verb_and_group(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl api-resources --categories=all --verbs=list,watch --api-group=gadgets.example.io -o wide
        NAME      SHORTNAMES   APIVERSION              NAMESPACED   KIND     VERBS                                                        CATEGORIES
        gadgets   gd           gadgets.example.io/v1   true         Gadget   create,delete,deletecollection,get,list,patch,update,watch   all
        $ kubectl api-resources --namespaced=false --verbs=list --api-group= -o name
        namespaces
    """)  # noqa: E501


def test_api_versions_are_all_versions(kubectl: Kubectl) -> None:
    shown = kubectl.output("api-versions").splitlines()

    assert shown == sorted(shown)
    assert {"v1", "gadgets.example.io/v1", "gadgets.example.io/v1beta1"} < set(shown)


def test_explain_describes_kinds_and_fields(kubectl: Kubectl) -> None:
    shown = kubectl.output("explain", "gadgets.spec.replicas")

    assert "KIND:       Gadget\nVERSION:    v1\n" in shown
    assert "FIELD: replicas <integer>" in shown
    assert "Number of desired replicas." in shown


@one_version
def test_explain_of_a_kind_lists_its_fields(kubectl: Kubectl) -> None:
    shown = kubectl.output("explain", "gd")

    assert "Gadget is the example kind." in shown
    assert "spec\t<GadgetSpec> -required-\n    Desired state of the gadget.\n" in shown
    assert "metadata\t<ObjectMeta>\n" in shown


def test_explain_recursively_and_in_another_version(kubectl: Kubectl) -> None:
    recursive = kubectl.output("explain", "gadget.spec", "--recursive")
    older = kubectl.output("explain", "gd.spec", "--api-version=gadgets.example.io/v1beta1")

    fields = [line.strip().split("\t")[0] for line in recursive.splitlines() if "\t<" in line]
    assert fields == ["model", "parts", "name", "port", "size", "replicas", "timeoutSeconds"]
    assert "count\t<integer>" in older


@one_version
def test_explain_tells_a_field_that_is_not_there(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl explain gd.spec.shine
        GROUP:      gadgets.example.io
        KIND:       Gadget
        VERSION:    v1
        error: field "shine" does not exist
        (exit 1)
    """)


def test_cluster_info_and_version(kubectl: Kubectl) -> None:
    info = kubectl.output("cluster-info")
    version = json.loads(kubectl.output("version", "-o", "json"))

    assert "is running at" in info
    assert kubectl.server.url in info
    assert version["serverVersion"]["major"] == "1"
    assert version["serverVersion"]["gitVersion"].startswith("v1.")


def test_raw_paths_are_passed_through(kubectl: Kubectl) -> None:
    groups = json.loads(kubectl.output("get", "--raw", "/apis/gadgets.example.io"))

    assert groups["preferredVersion"]["groupVersion"] == "gadgets.example.io/v1"
    assert kubectl.output("get", "--raw", "/readyz") == "ok"


@one_version
def test_config_view_hides_what_is_secret(kubectl: Kubectl) -> None:
    shown = kubectl.output("config", "view", "--minify")

    assert f"server: {kubectl.server.url}\n" in shown
    assert "token: REDACTED\n" in shown
