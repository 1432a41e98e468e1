"""Webhooks of managers that the server of a test calls in its own process."""

import pytest

from apimachinery.errors import APIError, Forbidden, InternalError
from apimachinery.fieldpath import FieldErrors, Path, invalid
from apis.gadgets.install import GADGETS
from apis.gadgets.v1 import Gadget
from client.controller.manager import Manager
from client.testing.env import Environment, environment
from client.webhooks import AdmissionRequest, InvalidWebhookSettings

LAMP = {"metadata": {"name": "lamp"}, "spec": {"model": "a1"}}


def setup(manager: Manager) -> None:
    @manager.defaulter(Gadget)
    def more(gadget: Gadget) -> None:
        gadget.spec.replicas += 1

    @manager.validator(Gadget)
    def few(gadget: Gadget) -> FieldErrors:
        if gadget.spec.replicas > 3:
            yield invalid(Path("spec", "replicas"), gadget.spec.replicas, "too many")

    @manager.validator(Gadget, operations=["DELETE"], path="/keep", name="keep.example.com")
    def keep(gadget: Gadget, request: AdmissionRequest[Gadget]) -> None:
        raise Forbidden(f"{request.user.username} may not delete {gadget.metadata.name}")


async def test_the_server_calls_them_from_the_first_request_on(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    async with env.manager(setup):
        created = await gadgets.create(LAMP)
        with pytest.raises(APIError) as refused:
            await gadgets.patch("lamp", {"spec": {"replicas": 3}})
        with pytest.raises(Forbidden, match="admin may not delete lamp"):
            await gadgets.delete("lamp")

    assert created.spec.replicas == 2
    assert [cause.field for cause in refused.value.causes] == ["spec.replicas"]


async def test_without_a_replica_writes_fail_as_in_a_cluster(env: Environment) -> None:
    gadgets = env.client.of(Gadget)
    async with env.manager(setup):
        async with env.manager(setup):
            await gadgets.create(LAMP)
        await gadgets.patch("lamp", {"metadata": {"labels": {"a": "b"}}})

    with pytest.raises(InternalError, match=r"failed calling webhook .*connection refused"):
        await gadgets.patch("lamp", {"metadata": {"labels": {"a": "c"}}})
    assert (await gadgets.get("lamp")).metadata.labels == {"a": "b"}


async def test_a_server_without_the_group_is_told_what_it_lacks() -> None:
    async with environment((GADGETS,)) as env:
        with pytest.raises(InvalidWebhookSettings, match="ADMISSIONREGISTRATION"):
            async with env.manager(setup):
                pass
