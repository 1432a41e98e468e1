"""Which permissions the writer of an owner reference needs."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from apimachinery.errors import Forbidden
from apimachinery.meta.types import OwnerReference
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.core.admission.owner_permissions import OwnerPermissions
from apis.core.v1.config_map import ConfigMap
from apiserver import Attributes, Decision, RequestContext, RequestInfo, ServerParts, User
from apiserver.admission.chain import Operation
from apiserver.config import ServerConfig
from client.testing.app_server import InMemoryServer
from tests.apis.validating import decoded
from tests.apiserver.http.driver import Driver

RBAC = "rbac.authorization.k8s.io"
NAMES = {"ConfigMap": "configmaps", "Node": "nodes"}
NO_DELETION = "cannot set an ownerRef on a resource you can't delete: , <nil>"
NO_FINALIZERS = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set"
    " finalizers on: , <nil>"
)


class Grants:
    def __init__(self, *granted: str) -> None:
        self.granted = granted

    async def authorize(self, user: User, wanted: RequestInfo) -> Decision:
        resource = "/".join(filter(None, (wanted.resource, wanted.subresource)))
        scope = f" in {wanted.namespace}" if wanted.namespace else ""
        return Decision(f"{wanted.verb} {resource} {wanted.name}{scope}" in self.granted)


def plugin(*granted: str) -> OwnerPermissions:
    parts = SimpleNamespace(
        authorizer=Grants(*granted),
        find_resource=lambda kind: NAMES.get(kind.kind, ""),
        versions=SimpleNamespace(is_namespaced=lambda resource: resource.resource != "nodes"),
    )
    return OwnerPermissions(cast(ServerParts, parts))


def owner(block: bool | None = None, *, kind: str = "ConfigMap", uid: str = "1") -> OwnerReference:
    return OwnerReference(
        api_version="v1", kind=kind, name="o", uid=uid, block_owner_deletion=block
    )


async def refusal(
    new: list[OwnerReference], old: list[OwnerReference] | None, *granted: str, **names: Any
) -> str:
    def config_map(owners: list[OwnerReference]) -> ConfigMap:
        made = decoded(ConfigMap, {"metadata": {"name": "c"}})
        made.metadata.owner_references = owners
        return made

    resource = GroupVersionResource("", "v1", names.pop("resource", "configmaps"))
    context = RequestContext(User("jo"), "update", resource, namespace="n", name="c", **names)
    before = config_map(old) if old is not None else None
    operation = Operation.UPDATE if before is not None else Operation.CREATE
    kind = GroupKind("", "ConfigMap")
    try:
        await plugin(*granted)(Attributes(context, operation, kind, config_map(new), before))
    except Forbidden as error:
        return error.message.partition(" is forbidden: ")[2]
    return ""


async def test_a_new_object_may_have_owners() -> None:
    assert await refusal([owner()], None) == ""


async def test_other_owners_need_the_permission_to_delete_the_object() -> None:
    assert await refusal([owner(uid="2")], [owner()]) == NO_DELETION
    assert await refusal([owner(uid="2")], [owner()], "delete configmaps c in n") == ""
    assert await refusal([owner()], [owner()]) == ""


@pytest.mark.parametrize(
    ("kind", "granted"),
    [
        ("ConfigMap", "update configmaps/finalizers o in n"),
        ("Node", "update nodes/finalizers o"),
        ("Node", "update */finalizers *"),
        ("Other", "update */finalizers *"),
    ],
)
async def test_blocking_the_deletion_of_an_owner_needs_its_finalizers(
    kind: str, granted: str
) -> None:
    owners = [owner(True, kind=kind)]

    assert await refusal(owners, None) != ""
    assert await refusal(owners, None, granted) == ""


async def test_a_blocking_owner_of_before_needs_no_permission() -> None:
    may_delete = "delete configmaps c in n"
    old = [owner(True), owner(None, uid="2")]

    assert await refusal([owner(True)], old, may_delete) == ""
    assert await refusal([owner(True), owner(True, uid="2")], old, may_delete) == NO_FINALIZERS


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("v1", 'no matches for kind "Other" in version "v1"'),
        ("a/b/c", "unexpected GroupVersion string: a/b/c"),
    ],
)
async def test_a_blocking_owner_must_be_of_a_known_kind(version: str, problem: str) -> None:
    unknown = owner(True, kind="Other")
    unknown.api_version = version

    assert await refusal([unknown], None) == (
        "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for"
        f" APIVersion {version} Kind Other: {problem}"
    )


async def test_a_blocking_owner_may_be_of_a_kind_that_is_not_stored() -> None:
    config = ServerConfig(enable_admission_plugins=("OwnerReferencesPermissionEnforcement",))
    server = InMemoryServer((), config=config)
    role = {
        "metadata": {"name": "writer"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}],
    }
    binding = {
        "metadata": {"name": "writer"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "writer"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "jo"}],
    }
    reference = {"name": "o", "uid": "1", "blockOwnerDeletion": True}
    await server.app.start()
    try:
        admin = Driver(server.app, authorization=f"Bearer {server.token}")
        for resource, document in (("clusterroles", role), ("clusterrolebindings", binding)):
            answer = await admin.post(f"/apis/{RBAC}/v1/{resource}", document)
            assert answer.code == 201, answer.json
        for group, kind in (
            ("authentication", "TokenReview"),
            ("authorization", "LocalSubjectAccessReview"),
        ):
            owners = [{"apiVersion": f"{group}.k8s.io/v1", "kind": kind, **reference}]
            answer = await admin.post(
                "/api/v1/namespaces/default/configmaps",
                {"metadata": {"name": "x", "ownerReferences": owners}},
                impersonate_user="jo",
            )
            assert answer.code == 403
            assert answer.json["message"].endswith(NO_FINALIZERS)
    finally:
        await server.app.stop()


async def test_the_status_of_pods_is_not_checked() -> None:
    names = {"resource": "pods", "subresource": "status"}

    assert await refusal([owner(uid="2")], [owner()], **names) == ""
