"""kubectl with an object that the server cannot decode."""

import asyncio
import json

from apiserver.storage.sqlite.backend import open_sqlite
from tests.kubectl.runner import Kubectl, one_version

OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"


def store_undecodable(kubectl: Kubectl, name: str) -> str:
    """Store a ConfigMap whose data is not a map, as another release may have; return its path."""
    metadata = {"name": name, "namespace": kubectl.namespace, "finalizers": ["example.com/x"]}
    stored = {"kind": "ConfigMap", "apiVersion": "__internal", "metadata": metadata, "data": 7}
    asyncio.run(_create(kubectl, name, json.dumps(stored).encode()))
    return f"/api/v1/namespaces/{kubectl.namespace}/configmaps/{name}"


async def _create(kubectl: Kubectl, name: str, value: bytes) -> None:
    backend = await open_sqlite(f"sqlite:///{kubectl.server.data_dir}/store.sqlite")
    try:
        await backend.create(f"/registry/core/configmaps/{kubectl.namespace}/{name}", value)
    finally:
        await backend.close()


@one_version
def test_delete_of_an_object_that_cannot_be_decoded(kubectl: Kubectl) -> None:
    by_query = store_undecodable(kubectl, "a")
    by_body = store_undecodable(kubectl, "b")

    queried = kubectl.output("delete", "--raw", f"{by_query}?{OPTION}=true")
    sent = kubectl.output("delete", "--raw", by_body, "-f", "-", stdin=json.dumps({OPTION: True}))

    for name, answer in (("a", queried), ("b", sent)):
        assert json.loads(answer)["details"] == {"name": name, "kind": "ConfigMap"}
        missing = kubectl("get", "cm", name)
        assert f'Error from server (NotFound): configmaps "{name}" not found' in missing.stderr


@one_version
def test_an_object_that_can_be_decoded_is_not_deleted_so(kubectl: Kubectl) -> None:
    kubectl.output("create", "configmap", "c")
    path = f"/api/v1/namespaces/{kubectl.namespace}/configmaps/c"

    result = kubectl("delete", "--raw", f"{path}?{OPTION}=true")

    assert result.code == 1
    assert "is exclusively used to delete corrupt object(s)" in result.stderr
    kubectl.output("get", "cm", "c")
