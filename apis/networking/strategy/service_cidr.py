"""Strategy of ServiceCIDRs."""

from apimachinery.fieldpath import FieldErrors
from apis.networking.v1 import ServiceCIDR
from apis.networking.validation.service_cidr import (
    validate_service_cidr,
    validate_service_cidr_update,
)
from apiserver import Strategy


class ServiceCIDRStrategy(Strategy[ServiceCIDR]):
    """The ranges are immutable, except that a second one can be added."""

    qualified_finalizers = True

    def validate(self, obj: ServiceCIDR) -> FieldErrors:
        yield from validate_service_cidr(obj)

    def validate_update(self, new: ServiceCIDR, old: ServiceCIDR) -> FieldErrors:
        yield from validate_service_cidr_update(new, old)

    def desired_state(self, obj: ServiceCIDR) -> object:
        return None
