"""A walk through each group with all its manifests: they are applied, compared, shown, deleted.

The other walks of this folder follow what users do with single kinds. This one leaves out none: a
group that is served without a walk fails, as does a kind without manifests.
"""

import re
from collections.abc import Sequence

import pytest

from apis.kubernetes import KUBERNETES
from tests.apis.kinds.kind_files import Manifest, facts, group_folder, manifests
from tests.kubectl.runner import Kubectl, one_version

REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")
"""Groups whose objects are questions: nothing of them is stored."""
REPLACED = {
    *("clusterrole", "csinode", "endpoints", "limitrange", "mutatingadmissionpolicy"),
    *("resourceclaim", "resourceclaimtemplate", "role", "validatingadmissionpolicy"),
}
"""Kinds with lists that kubectl replaces as a whole, so that it patches what is equal already."""
STORING = [name for name in facts() if name not in REVIEWS]


def of_group(form: str, group: str) -> list[Manifest]:
    return [each for each in manifests(form) if each.path.parent.name == group_folder(group)]


def files(chosen: Sequence[Manifest]) -> list[str]:
    """Return the arguments for manifests, some of which name the namespace `default`."""
    return ["--namespace=default", *(f"--filename={each.path}" for each in chosen)]


def objects(chosen: Sequence[Manifest]) -> list[str]:
    """Return the names by which kubectl mentions the objects of manifests, in sorted order."""
    named = []
    for document in (d for each in chosen for d in (*each.needed, each.document)):
        group, _, _ = document["apiVersion"].rpartition("/")
        kind = document["kind"].lower() + (f".{group}" if group else "")
        named.append(f"{kind}/{document['metadata']['name']}")
    return sorted(named)


def mentioned(output: str, outcome: str) -> list[str]:
    """Return the objects that kubectl reports an outcome for; each line has to be such a report."""
    reports = [line.removesuffix(f" {outcome}") for line in output.splitlines()]
    return sorted(re.sub(r'^(\S+) "(\S+)"$', r"\1/\2", report) for report in reports)


def test_every_group_is_walked() -> None:
    assert {group.name for group in KUBERNETES} <= {*STORING, *REVIEWS}
    assert [group for group in STORING if not of_group("minimal", group)] == []


@one_version
@pytest.mark.parametrize("group", STORING, ids=group_folder)
def test_minimal_manifests_from_creation_to_deletion(kubectl: Kubectl, group: str) -> None:
    chosen = of_group("minimal", group)

    created = kubectl.output("apply", *files(chosen))
    different = kubectl.output("diff", *files(chosen))
    again = kubectl.output("apply", *files(chosen))
    shown = kubectl.output("get", *files(chosen), "-o", "wide")
    deleted = kubectl.output("delete", *files(chosen), "--wait=false")

    assert mentioned(created, "created") == objects(chosen)
    assert different == ""
    patched = "".join(f"{line}\n" for line in again.splitlines() if line.endswith(" configured"))
    assert {re.split(r"[./]", name)[0] for name in mentioned(patched, "configured")} <= REPLACED
    assert len(again.splitlines()) == len(objects(chosen))
    for name in objects(chosen):
        assert name.partition("/")[2] in shown
    assert mentioned(deleted, "deleted") == objects(chosen)


@one_version
@pytest.mark.parametrize("group", STORING, ids=group_folder)
def test_full_manifests_are_applied_by_the_server(kubectl: Kubectl, group: str) -> None:
    chosen = of_group("full", group)
    # Kubernetes' own manager of priority levels has applied some of the objects before.
    by_server = ("--server-side", "--force-conflicts", *files(chosen))

    applied = kubectl.output("apply", *by_server)
    different = kubectl.output("diff", *by_server)
    listed = kubectl.output("get", *files(chosen), "-o", "name")
    deleted = kubectl.output("delete", *files(chosen), "--wait=false")

    assert mentioned(applied, "serverside-applied") == objects(chosen)
    assert different == ""
    assert sorted(listed.split()) == objects(chosen)
    assert mentioned(deleted, "deleted") == objects(chosen)


@one_version
@pytest.mark.parametrize("group", STORING, ids=group_folder)
def test_every_kind_is_explained(kubectl: Kubectl, group: str) -> None:
    for kind, version in {
        (each.document["kind"], each.document["apiVersion"]) for each in of_group("minimal", group)
    }:
        text = kubectl.output("explain", kind.lower(), f"--api-version={version}")

        assert re.search(rf"^KIND:\s+{kind}$", text, re.MULTILINE)
        assert not re.search(r"DESCRIPTION:\s+<empty>", text)
        assert "APIVersion defines" in text


@one_version
def test_questions_are_answered(kubectl: Kubectl) -> None:
    kubectl.output("create", "serviceaccount", "builder")
    kubectl.output("create", "role", "reader", "--verb=get", "--resource=pods")
    subject = f"--serviceaccount={kubectl.namespace}:builder"
    kubectl.output("create", "rolebinding", "builder-reads", "--role=reader", subject)
    token = kubectl.output("create", "token", "builder").strip()

    kubectl.replays(f"""
        $ kubectl auth can-i create deployments.apps/scale
        yes
        $ kubectl auth can-i get pods --as=system:serviceaccount:{kubectl.namespace}:builder
        yes
        $ kubectl auth can-i delete pods --as=system:serviceaccount:{kubectl.namespace}:builder
        no
        (exit 1)
        $ kubectl auth whoami -o jsonpath={{.status.userInfo.username}}
        admin
        $ kubectl auth whoami -o jsonpath={{.status.userInfo.username}} --token={token}
        system:serviceaccount:{kubectl.namespace}:builder
    """)
    review = f"""{{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
        "spec": {{"token": "{token}"}}}}"""
    reviewed = kubectl.output("create", "-f", "-", "-o", "jsonpath={.status}", stdin=review)
    assert f"system:serviceaccount:{kubectl.namespace}:builder" in reviewed
