"""Managers that serve webhooks: certificates, configurations and health."""

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from apimachinery.certificates import AUTHORITY_LIFETIME, CertificateAuthority
from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.admissionregistration.v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from apis.core.v1 import Secret
from apis.gadgets import v1, v1beta1
from apis.gadgets.install import GADGETS
from client.controller.manager import Manager
from client.testing.env import Environment, environment
from client.testing.fake_clock import FakeClock
from client.webhooks import InvalidWebhookSettings, WebhookSettings
from client.webhooks.serving_certificates import CertificateFolder
from client.webhooks.webhook_authority import (
    PROPAGATION,
    RENEWAL,
    AuthorityState,
    first_state,
    from_data,
    to_data,
)
from client.webhooks.webhook_serving import WebhookServing
from tests.client.webhooks.reviews import admission_review, gadget

VALIDATE = "/validate-gadgets-example-io-v1-gadget"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def setup(manager: Manager) -> None:
    manager.validator(v1.Gadget, operations=["DELETE"], failure_policy="Ignore")(lambda _: None)


async def call(port: int, bundle: bytes) -> Any:
    """Post a review as a server does that trusts *bundle*."""
    trust = ssl.create_default_context(cadata=bundle.decode())
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    body = orjson.dumps(admission_review(None, gadget()))
    writer.write(
        f"POST {VALIDATE} HTTP/1.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
    answer = await reader.read()
    issuer = writer.get_extra_info("ssl_object").getpeercert()["issuer"]
    writer.close()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert orjson.loads(answer.partition(b"\r\n\r\n")[2])["response"]["allowed"]
    return issuer


@asynccontextmanager
async def serving(
    env: Environment, settings: WebhookSettings | None = None, **options: Any
) -> AsyncIterator[tuple[Manager, int]]:
    """A manager with webhooks on a port of loopback."""
    port = free_port()
    settings = settings or WebhookSettings(f"127.0.0.1:{port}", url=f"https://127.0.0.1:{port}")
    async with env.manager(options.pop("setup", setup), webhooks=settings, **options) as manager:
        yield manager, manager.ports["webhooks"]


async def configuration(env: Environment, name: str = "test") -> ValidatingWebhookConfiguration:
    async with asyncio.timeout(10):
        while (found := await env.find(ValidatingWebhookConfiguration, name)) is None:
            await asyncio.sleep(0.01)
    return found


async def replica_authority(env: Environment) -> AuthorityState:
    """The authority in the Secret of the manager."""
    stored = await env.get(Secret, "test-webhook-certificates")
    return from_data({key: base64.b64encode(value).decode() for key, value in stored.data.items()})


async def bundle_of(env: Environment) -> bytes:
    return (await configuration(env)).webhooks[0].client_config.ca_bundle


async def test_a_manager_configures_and_serves_its_webhooks(env: Environment) -> None:
    async with serving(env) as (_, port):
        found = await configuration(env)
        (webhook,) = found.webhooks
        assert webhook.name == "validate.v1.gadget.gadgets.example.io"
        assert webhook.client_config.url == f"https://127.0.0.1:{port}{VALIDATE}"
        assert webhook.failure_policy == "Ignore"
        assert webhook.rules[0].operations == ["DELETE"]
        assert webhook.rules[0].resources == ["gadgets"]
        assert webhook.rules[0].api_versions == ["v1"]
        assert webhook.admission_review_versions == ["v1", "v1beta1"]
        assert {entry.manager for entry in found.metadata.managed_fields} == {"test/webhooks"}
        await call(port, webhook.client_config.ca_bundle)
    assert await env.find(MutatingWebhookConfiguration, "test") is None


async def test_every_option_is_a_field_of_the_configuration(env: Environment) -> None:
    def with_options(manager: Manager) -> None:
        manager.defaulter(
            v1beta1.Gadget,
            name="gadgets.shop.example.com",
            path="/gadgets",
            operations=["CREATE"],
            subresources=["", "status"],
            scope="Namespaced",
            failure_policy="Fail",
            timeout=3,
            match_policy="Exact",
            match_conditions={"named": "object.metadata.name != ''"},
            namespace_selector={"matchLabels": {"a": "b"}},
            object_selector={"matchLabels": {"c": "d"}},
            side_effects="NoneOnDryRun",
            reinvocation_policy="IfNeeded",
        )(lambda gadget: None)

    settings = WebhookSettings(
        "127.0.0.1:0", service="default/webhooks:8443", annotations={"note": "ours"}
    )
    async with serving(env, settings, setup=with_options):
        async with asyncio.timeout(10):
            while (found := await env.find(MutatingWebhookConfiguration, "test")) is None:
                await asyncio.sleep(0.01)

    (webhook,) = found.webhooks
    document = orjson.loads(webhook.model_dump_json(by_alias=True))
    assert found.metadata.annotations == {"note": "ours"}
    assert document.pop("clientConfig").pop("service") == {
        "namespace": "default",
        "name": "webhooks",
        "path": "/gadgets",
        "port": 8443,
    }
    assert document == {
        "name": "gadgets.shop.example.com",
        "rules": [
            {
                "operations": ["CREATE"],
                "apiGroups": ["gadgets.example.io"],
                "apiVersions": ["v1beta1"],
                "resources": ["gadgets", "gadgets/status"],
                "scope": "Namespaced",
            }
        ],
        "failurePolicy": "Fail",
        "matchPolicy": "Exact",
        "timeoutSeconds": 3,
        "sideEffects": "NoneOnDryRun",
        "reinvocationPolicy": "IfNeeded",
        "admissionReviewVersions": ["v1", "v1beta1"],
        "matchConditions": [{"name": "named", "expression": "object.metadata.name != ''"}],
        "namespaceSelector": {"matchLabels": {"a": "b"}},
        "objectSelector": {"matchLabels": {"c": "d"}},
    }


async def test_the_authority_is_replaced_without_a_refused_call() -> None:
    """Servers trust the next authority before it signs, and the old one as long as replicas do."""
    start = datetime.now(UTC) - timedelta(hours=3)
    old = first_state(start - AUTHORITY_LIFETIME + RENEWAL - timedelta(days=1))
    name = "test-webhook-certificates"
    clock = FakeClock(start)
    issuers = []

    async with environment((GADGETS, ADMISSIONREGISTRATION), clock=clock) as env:
        await env.client.of(Secret).create({"metadata": {"name": name}, "data": to_data(old)})
        async with serving(env) as (_, port):
            first_bundle = await bundle_of(env)
            for _ in range(4):
                # A server may be as late as the last bundle before this one.
                bundle = await bundle_of(env)
                issuers.append(await call(port, bundle))
                await clock.advance(PROPAGATION / 2)
                await call(port, bundle)
            await call(port, first_bundle)
        state = await replica_authority(env)

    assert state.signing != old.signing
    assert old.signing.certificate in state.bundle
    assert len(dict.fromkeys(map(str, issuers))) == 2


async def test_a_lost_authority_is_repaired_before_the_caches_need_it(env: Environment) -> None:
    port = free_port()
    settings = WebhookSettings(f"127.0.0.1:{port}", url=f"https://127.0.0.1:{port}")
    async with serving(env, settings):
        before = await bundle_of(env)
    await env.client.of(Secret).delete("test-webhook-certificates")

    manager = Manager(env.client, name="test", webhooks=settings)
    setup(manager)
    replica = WebhookServing(
        env.client,
        manager.webhooks.routes,
        settings,
        name="test",
        clock=manager.clock,
        metrics=manager.metrics,
    )
    await replica.start()
    try:
        after = await bundle_of(env)
        assert after != before
        await call(port, after)
    finally:
        await replica.stop()


async def test_certificates_of_others_are_loaded_again_when_they_change(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    authorities = [CertificateAuthority.create(now=now) for _ in range(2)]

    def write(authority: CertificateAuthority, key: bytes = b"") -> None:
        pair = authority.issue_serving(("127.0.0.1",), now=now)
        (tmp_path / "tls.crt").write_bytes(pair.certificate)
        (tmp_path / "tls.key").write_bytes(key or pair.key)

    write(authorities[0])
    settings = WebhookSettings("127.0.0.1:0", service="shop/webhooks", certificates=tmp_path)
    clock = FakeClock(now)
    async with (
        environment((GADGETS, ADMISSIONREGISTRATION), clock=clock) as env,
        serving(env, settings) as (_, port),
    ):
        await call(port, authorities[0].pair.certificate)
        write(authorities[1], key=b"half written")
        await clock.advance(CertificateFolder.interval)
        await call(port, authorities[0].pair.certificate)
        write(authorities[1])
        await clock.advance(CertificateFolder.interval)
        await call(port, authorities[1].pair.certificate)
        assert await bundle_of(env) == b"", "the CA certificates are left to others"
        assert await env.find(Secret, "test-webhook-certificates") is None


async def test_only_the_authority_is_kept_in_configurations_of_others(env: Environment) -> None:
    port = free_port()
    url = f"https://127.0.0.1:{port}"
    theirs: dict[str, Any] = {
        "metadata": {"name": "by-hand"},
        "webhooks": [
            {
                "name": f"{name}.example.com",
                "clientConfig": {"url": f"{place}{VALIDATE}"},
                "rules": [
                    {
                        "operations": ["*"],
                        "apiGroups": ["gadgets.example.io"],
                        "apiVersions": ["*"],
                        "resources": ["gadgets"],
                    }
                ],
                "failurePolicy": "Ignore",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
            for name, place in (("a.ours", url), ("b.theirs", "https://127.0.0.1:1"))
        ],
    }
    await env.client.of(ValidatingWebhookConfiguration).create(theirs)
    settings = WebhookSettings(f"127.0.0.1:{port}", url=url, configure=False)

    async with serving(env, settings):
        async with asyncio.timeout(10):
            while not (await configuration(env, "by-hand")).webhooks[0].client_config.ca_bundle:
                await asyncio.sleep(0.01)

    ours, other = (await configuration(env, "by-hand")).webhooks
    await asyncio.sleep(0)
    assert ours.rules[0].operations == ["*"]
    assert other.client_config.ca_bundle == b""
    assert await env.find(ValidatingWebhookConfiguration, "test") is None


async def test_webhooks_are_part_of_the_health_of_the_manager(env: Environment) -> None:
    async with serving(env, probes="127.0.0.1:0", metrics_address="127.0.0.1:0") as (manager, port):
        await call(port, await bundle_of(env))
        reader, writer = await asyncio.open_connection("127.0.0.1", manager.ports["metrics"])
        writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
        metrics = await reader.read()
        assert b'webhook_requests_total{code="200",webhook="/validate' in metrics
        assert b"certwatcher_read_certificate_total 1.0" in metrics
        assert b"webhook_certificate_expiration_timestamp_seconds 1." in metrics
        writer.close()
        for page in ("readyz", "healthz"):
            reader, writer = await asyncio.open_connection("127.0.0.1", manager.ports["probes"])
            writer.write(f"GET /{page}?verbose HTTP/1.1\r\n\r\n".encode())
            assert b"[+]webhooks ok" in await reader.read()
            writer.close()


async def test_a_replica_that_stops_answers_until_servers_have_gone_elsewhere() -> None:
    clock, port = FakeClock(datetime.now(UTC)), free_port()
    settings = WebhookSettings(f"127.0.0.1:{port}", url=f"https://127.0.0.1:{port}", drain=5)
    async with environment((GADGETS, ADMISSIONREGISTRATION), clock=clock) as env:
        manager = Manager(env.client, name="test", webhooks=settings)
        setup(manager)
        replica = WebhookServing(
            env.client,
            manager.webhooks.routes,
            settings,
            name="test",
            clock=clock,
            metrics=manager.metrics,
        )
        await replica.start()
        await replica.configurations.apply((await replica_authority(env)).bundle)
        replica.check_ready()

        stopping = asyncio.ensure_future(replica.stop())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="being stopped"):
            replica.check_ready()
        replica.check_alive()
        await call(port, await bundle_of(env))
        await clock.advance(5)
        await stopping
        with pytest.raises(OSError, match=r"."):
            await asyncio.open_connection("127.0.0.1", port)


async def test_a_manager_with_webhooks_must_know_how_servers_reach_it(env: Environment) -> None:
    with pytest.raises(InvalidWebhookSettings, match="need a service or a url"):
        WebhookSettings()
    for url in ("http://a", "https://", "https://a/b", "https://a:x", "https://u@a"):
        with pytest.raises(InvalidWebhookSettings, match="url"):
            WebhookSettings(url=url)
    with pytest.raises(InvalidWebhookSettings, match="port"):
        WebhookSettings(service="a/b:0").reach("x")
    manager = Manager(env.client, name="test")
    setup(manager)
    with pytest.raises(InvalidWebhookSettings, match="there are webhooks"):
        await manager.start()
