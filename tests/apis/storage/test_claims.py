"""The class of new claims, and which claims may grow."""

from typing import Any

import pytest
import pytest_asyncio

from tests.apis.admitted import Admitted, reason
from tests.apiserver.http.driver import Answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
NO_RESIZE = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc"
    " must support resize"
)


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def classes(admitted: Admitted) -> None:
    grows = {"metadata": {"name": "grows"}, "provisioner": "x", "allowVolumeExpansion": True}
    await admitted.create("storageclasses", grows)
    await admitted.create("storageclasses", {"metadata": {"name": "fixed"}, "provisioner": "x"})


async def claim(admitted: Admitted, **parts: Any) -> Any:
    metadata = {"name": admitted.new_name(), **parts.pop("metadata", {})}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        **parts,
    }
    document = {"metadata": metadata, "spec": spec}
    return await admitted.create("persistentvolumeclaims", document)


@pytest.mark.parametrize(
    "annotation",
    [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ],
)
async def test_a_claim_that_names_no_class_gets_the_default_one(
    admitted: Admitted, annotation: str
) -> None:
    before = await claim(admitted)
    metadata = {"name": "default", "annotations": {annotation: "true"}}
    await admitted.create("storageclasses", {"metadata": metadata, "provisioner": "x"})
    await admitted.settle("storageclasses")
    try:
        after = await claim(admitted)
        none = await claim(admitted, storageClassName="")
        old = {"volume.beta.kubernetes.io/storage-class": "grows"}
        annotated = await claim(admitted, metadata={"annotations": old})
    finally:
        await admitted.server.delete("/apis/storage.k8s.io/v1/storageclasses/default")
        await admitted.settle("storageclasses")

    classes = [each["spec"].get("storageClassName") for each in (before, after, none, annotated)]
    assert classes == [None, "default", "", None]


async def grow(admitted: Admitted, *, phase: str = "Bound", **parts: Any) -> Answer:
    path = f"{CLAIMS}/{(await claim(admitted, **parts))['metadata']['name']}"
    status = {"phase": phase, "capacity": {"storage": "1Gi"}}
    await admitted.server.patch(f"{path}/status", {"status": status})
    change = {"resources": {"requests": {"storage": "2Gi"}}}
    return await admitted.server.patch(path, {"spec": change})


async def test_a_bound_claim_grows_if_its_class_allows_it(admitted: Admitted) -> None:
    grown = await grow(admitted, storageClassName="grows")

    assert grown.code == 200, grown.body


@pytest.mark.parametrize("name", ["fixed", "", "missing"])
async def test_no_other_claim_grows(admitted: Admitted, name: str) -> None:
    assert reason(await grow(admitted, storageClassName=name)) == NO_RESIZE
