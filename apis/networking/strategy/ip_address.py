"""Strategy of IPAddresses."""

from apimachinery.fieldpath import FieldErrors
from apimachinery.ip_addresses import is_canonical_ip
from apis.networking.v1 import IPAddress
from apis.networking.validation.ip_address import validate_ip_address, validate_ip_address_update
from apiserver import Strategy


class IPAddressStrategy(Strategy[IPAddress]):
    """Names are addresses in canonical form; the object that uses an address cannot change."""

    qualified_finalizers = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return is_canonical_ip(name)

    def validate(self, obj: IPAddress) -> FieldErrors:
        yield from validate_ip_address(obj)

    def validate_update(self, new: IPAddress, old: IPAddress) -> FieldErrors:
        yield from validate_ip_address_update(new, old)

    def desired_state(self, obj: IPAddress) -> object:
        return None
