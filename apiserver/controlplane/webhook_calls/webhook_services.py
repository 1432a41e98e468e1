"""Service addresses: where the server reaches a webhook that is named as a Service.

A cluster IP works only where the rules of kube-proxy apply, which is not assumed of the machine
of this server. So the address is one of a ready endpoint, from the EndpointSlices of the Service.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apimachinery.errors import APIError
from apimachinery.schema import GroupResource
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import EntrySelection, EqualityTerm, Selectable
from apiserver.storage.cache.read_revision import Freshness
from apiserver.storage.interface import StorageError
from apiserver.webhook_call import WebhookService

SERVICES: Final = GroupResource("", "services")
SLICES: Final = GroupResource("discovery.k8s.io", "endpointslices")

_SERVICE_NAME: Final = "kubernetes.io/service-name"


class NoServiceAddress(Exception):
    """A Service has no address that the server could call."""


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """The host and port of one endpoint."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class ServiceAddresses:
    """Resolves Services by the stored objects."""

    def __init__(self, find_store: Callable[[GroupResource], ResourceStore[Any]]) -> None:
        self._find_store = find_store

    async def resolve(self, service: WebhookService) -> ServiceAddress:
        """Return the address of a ready endpoint, chosen at random. Raises NoServiceAddress."""
        try:
            return await self._resolve(service, Freshness.ANY)
        except NoServiceAddress:
            # It may have been created a moment ago.
            return await self._resolve(service, Freshness.NEWEST)

    async def _resolve(self, service: WebhookService, at: Freshness) -> ServiceAddress:
        spec = await self._spec(service, at)
        kind = spec.get("type") or "ClusterIP"
        if kind == "ExternalName":
            return ServiceAddress(spec.get("externalName", ""), service.port)
        if kind not in ("ClusterIP", "NodePort", "LoadBalancer"):
            raise NoServiceAddress(f'unsupported service type "{kind}"')
        port = _port_name(spec, service)
        families = spec.get("ipFamilies") or [""]
        slices = sorted(
            await self._slices(service, at),
            key=lambda found: (found.get("addressType") != families[0], random.random()),
        )
        for found in slices:
            if addresses := list(_ready_addresses(found, port)):
                return random.choice(addresses)
        raise NoServiceAddress(f'no endpoints available for service "{service.name}"')

    async def _spec(self, service: WebhookService, at: Freshness) -> Mapping[str, Any]:
        try:
            store = self._find_store(SERVICES)
            entry = await store.get(service.name, namespace=service.namespace, at=at)
        except (KeyError, APIError):  # KeyError: the groups of this server have no services
            raise NoServiceAddress(f'service "{service.name}" not found') from None
        spec: Mapping[str, Any] = orjson.loads(entry.record.value).get("spec") or {}
        return spec

    async def _slices(self, service: WebhookService, at: Freshness) -> Iterable[Mapping[str, Any]]:
        def belongs(labels: Selectable) -> bool:
            return labels.get(_SERVICE_NAME) == service.name

        selection = EntrySelection(
            namespace=service.namespace,
            labels=belongs,
            terms=(EqualityTerm(_SERVICE_NAME, (service.name,)),),
        )
        try:
            listing = await self._find_store(SLICES).cached.list(selection, at=at)
        except (KeyError, StorageError):
            return ()
        return [orjson.loads(entry.record.value) for entry in listing.entries]


def _port_name(spec: Mapping[str, Any], service: WebhookService) -> str:
    """Return the name that the port of the Service has in its EndpointSlices."""
    for port in spec.get("ports") or ():
        if port.get("port") == service.port:
            return str(port.get("name") or "")
    raise NoServiceAddress(f'no service port {service.port} found for service "{service.name}"')


def _ready_addresses(found: Mapping[str, Any], port_name: str) -> Iterator[ServiceAddress]:
    ports = [
        port["port"]
        for port in found.get("ports") or ()
        if (port.get("name") or "") == port_name and port.get("port")
    ]
    if not ports:
        return
    for endpoint in found.get("endpoints") or ():
        ready = (endpoint.get("conditions") or {}).get("ready")
        if ready is not False and endpoint.get("addresses"):
            # The addresses of an endpoint are interchangeable.
            yield ServiceAddress(endpoint["addresses"][0], ports[0])
