"""Strategy of NetworkPolicies."""

from collections.abc import Iterator

from apimachinery.fieldpath import FieldErrors
from apimachinery.ip_addresses import cidr_warnings
from apis.networking.v1 import NetworkPolicy
from apis.networking.validation.network_policy import ip_blocks, validate_network_policy
from apiserver import Strategy


class NetworkPolicyStrategy(Strategy[NetworkPolicy]):
    """Clients are warned of ranges of addresses that are not in canonical form."""

    qualified_finalizers = True

    def validate(self, obj: NetworkPolicy) -> FieldErrors:
        yield from validate_network_policy(obj)

    def warnings(self, obj: NetworkPolicy, old: NetworkPolicy | None = None) -> Iterator[str]:
        for block, path in ip_blocks(obj.spec):
            yield from cidr_warnings(block.cidr, path.child("cidr"))
            for position, cidr in enumerate(block.except_):
                yield from cidr_warnings(cidr, path.child("except").index(position))
