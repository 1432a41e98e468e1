"""Webhooks that are named as a Service: which of its endpoints the server calls."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from apis.core.install_full import FULL_CORE
from apis.discovery.install import DISCOVERY
from apiserver.controlplane.webhook_calls.webhook_connections import WebhookConnections
from apiserver.controlplane.webhook_calls.webhook_services import (
    NoServiceAddress,
    ServiceAddress,
    ServiceAddresses,
)
from apiserver.webhook_call import WebhookCallError, WebhookService, WebhookTarget
from tests.apis.controlled import ControlledServer, controlled_server
from tests.webhook_server import webhook_server

SERVICE = WebhookService("shop", "hooks", "/review", 8443)


@pytest.fixture
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server(FULL_CORE, DISCOVERY) as running:
        namespaces = running.client.resource("namespaces")
        await namespaces.create({"metadata": {"name": "shop"}})
        yield running


@pytest.fixture
def addresses(server: ControlledServer) -> ServiceAddresses:
    return ServiceAddresses(lambda name: server.app.groups.store(name))


async def create_service(server: ControlledServer, **spec: Any) -> None:
    spec.setdefault("ports", [{"name": "https", "port": 8443}])
    services = server.client.resource("services", namespace="shop")
    await services.create({"metadata": {"name": "hooks"}, "spec": spec})


async def create_slice(
    server: ControlledServer,
    name: str,
    *addresses: str,
    port: int = 9443,
    port_name: str = "https",
    ready: bool | None = None,
    service: str = "hooks",
) -> None:
    slices = server.client.resource("endpointslices", namespace="shop")
    conditions = {} if ready is None else {"ready": ready}
    await slices.create(
        {
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": service}},
            "addressType": "IPv6" if ":" in "".join(addresses) else "IPv4",
            "ports": [{"name": port_name, "port": port}],
            "endpoints": [
                {"addresses": [address], "conditions": conditions} for address in addresses
            ],
        }
    )


async def test_a_ready_endpoint_with_the_port_of_the_service_is_chosen(
    server: ControlledServer, addresses: ServiceAddresses
) -> None:
    await create_service(server)
    await create_slice(server, "gone", "10.1.1.1", ready=False)
    await create_slice(server, "other-port", "10.1.1.2", port_name="metrics")
    await create_slice(server, "other-service", "10.1.1.3", service="others")
    await create_slice(server, "here", "10.1.1.4")

    assert {await addresses.resolve(SERVICE) for _ in range(10)} == {
        ServiceAddress("10.1.1.4", 9443)
    }


async def test_all_ready_endpoints_are_used(
    server: ControlledServer, addresses: ServiceAddresses
) -> None:
    await create_service(server)
    await create_slice(server, "first", "10.1.1.1", "10.1.1.2")

    chosen = {(await addresses.resolve(SERVICE)).host for _ in range(100)}
    assert chosen == {"10.1.1.1", "10.1.1.2"}


async def test_an_external_name_is_called_by_that_name(
    server: ControlledServer, addresses: ServiceAddresses
) -> None:
    await create_service(server, type="ExternalName", externalName="hooks.example.com")

    assert await addresses.resolve(SERVICE) == ServiceAddress("hooks.example.com", 8443)


async def test_a_service_without_endpoints_or_port_has_no_address(
    server: ControlledServer, addresses: ServiceAddresses
) -> None:
    await create_service(server)

    with pytest.raises(NoServiceAddress, match=r'^no endpoints available for service "hooks"$'):
        await addresses.resolve(SERVICE)
    with pytest.raises(NoServiceAddress, match=r'^no service port 443 found for service "hooks"$'):
        await addresses.resolve(WebhookService("shop", "hooks"))


async def test_the_call_names_the_service_and_verifies_its_name(
    server: ControlledServer, addresses: ServiceAddresses
) -> None:
    # The endpoints of a service may not be addresses of loopback.
    await create_service(server, type="ExternalName", externalName="localhost")
    caller = WebhookConnections(addresses)
    async with webhook_server(lambda received: b"{}", names=(SERVICE.host,)) as webhook:
        service = replace(SERVICE, port=webhook.port)
        called = WebhookTarget(service=service, ca_bundle=webhook.ca)
        await caller.post(called, b"{}", timeout=10)
        await caller.aclose()

    [received] = webhook.received
    assert received.server_name == "hooks.shop.svc"
    assert received.headers["Host"] == f"hooks.shop.svc:{webhook.port}"
    assert received.path == "/review"


async def test_the_error_of_a_missing_service_names_its_url(addresses: ServiceAddresses) -> None:
    called = WebhookTarget(service=WebhookService("shop", "nowhere", "/review"))

    with pytest.raises(WebhookCallError) as caught:
        await WebhookConnections(addresses).post(called, b"{}", timeout=10, query="timeout=3s")

    assert str(caught.value) == (
        'Post "https://nowhere.shop.svc:443/review?timeout=3s": service "nowhere" not found'
    )
