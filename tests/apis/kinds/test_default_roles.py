"""A server with every kind has the default roles of Kubernetes from its start."""

import pytest

from tests.apis.kinds.kind_server import KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("clusterroles", "system:kube-scheduler"),
        ("clusterrolebindings", "system:controller:deployment-controller"),
        ("namespaces/kube-public/roles", "system:controller:bootstrap-signer"),
        ("namespaces/kube-system/rolebindings", "system::leader-locking-kube-scheduler"),
    ],
)
async def test_the_server_has_them(kinds: KindServer, path: str, name: str) -> None:
    answer = await kinds.driver.get(f"{RBAC}/{path}/{name}")

    assert answer.code == 200
    assert answer.json["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
