"""Strategy of Endpoints."""

from collections.abc import Iterable, Iterator
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.ip_addresses import ip_warnings
from apis.core.v1.endpoints import EndpointAddress, Endpoints
from apis.core.validation.endpoints import validate_endpoints, validate_endpoints_update
from apiserver import Strategy

MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
ENDPOINTS_CONTROLLER: Final = "endpoint-controller"


class EndpointsStrategy(Strategy[Endpoints]):
    """Names are DNS subdomains, and those of services."""

    qualified_finalizers = True
    allow_create_on_update = True

    def validate(self, obj: Endpoints) -> FieldErrors:
        yield from validate_endpoints(obj)

    def validate_update(self, new: Endpoints, old: Endpoints) -> FieldErrors:
        yield from validate_endpoints_update(new, old)

    def warnings(self, obj: Endpoints, old: Endpoints | None = None) -> Iterable[str]:
        # The controller writes canonical addresses only.
        if obj.metadata.labels.get(MANAGED_BY) == ENDPOINTS_CONTROLLER:
            return ()
        return list(_warnings(obj))

    def desired_state(self, obj: Endpoints) -> object:
        return None


def _warnings(endpoints: Endpoints) -> Iterator[str]:
    for position, subset in enumerate(endpoints.subsets):
        path = Path("subsets").index(position)
        yield from _address_warnings(subset.addresses, path.child("addresses"))
        yield from _address_warnings(subset.not_ready_addresses, path.child("notReadyAddresses"))


def _address_warnings(addresses: list[EndpointAddress], path: Path) -> Iterator[str]:
    for position, address in enumerate(addresses):
        yield from ip_warnings(address.ip, path.index(position).child("ip"))
