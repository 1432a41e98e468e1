"""Strategy of EndpointSlices."""

from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.ip_addresses import ip_warnings
from apis.discovery.v1 import EndpointSlice
from apis.discovery.v1.endpoint_slice import FQDN, MANAGED_BY_LABEL
from apis.discovery.validation import validate_endpoint_slice, validate_endpoint_slice_update
from apiserver import Strategy

_CONTROLLERS: Final = (
    "endpointslice-controller.k8s.io",
    "endpointslicemirroring-controller.k8s.io",
)
"""Controllers that write addresses in canonical form."""


class EndpointSliceStrategy(Strategy[EndpointSlice]):
    """Every change except of annotations raises the generation; the old topology is dropped."""

    qualified_finalizers = True

    def prepare_for_create(self, obj: EndpointSlice) -> None:
        _drop_topology(obj)

    def prepare_for_update(self, new: EndpointSlice, old: EndpointSlice) -> None:
        if new.endpoints != old.endpoints:
            _drop_topology(new)

    def validate(self, obj: EndpointSlice) -> FieldErrors:
        yield from validate_endpoint_slice(obj)

    def validate_update(self, new: EndpointSlice, old: EndpointSlice) -> FieldErrors:
        yield from validate_endpoint_slice_update(new, old)

    def warnings(self, obj: EndpointSlice, old: EndpointSlice | None = None) -> Iterator[str]:
        if old is None and obj.address_type == FQDN:
            yield "spec.addressType: FQDN endpoints are deprecated"
        if obj.metadata.labels.get(MANAGED_BY_LABEL) in _CONTROLLERS:
            return
        for position, endpoint in enumerate(obj.endpoints):
            path = Path("endpoints").index(position).child("addresses")
            for index, address in enumerate(endpoint.addresses):
                yield from ip_warnings(address, path.index(index))

    def desired_state(self, obj: EndpointSlice) -> object:
        return [obj.metadata.labels, obj.endpoints, obj.ports, obj.address_type]


def _drop_topology(endpoint_slice: EndpointSlice) -> None:
    for endpoint in endpoint_slice.endpoints:
        endpoint.deprecated_topology = {}
