"""How leases are written."""

from apimachinery.fieldpath import FieldErrors
from apis.coordination.v1 import Lease
from apis.coordination.validation import validate_lease
from apiserver import Strategy


class LeaseStrategy(Strategy[Lease]):
    """A lease is never overwritten unseen: that is the whole point of one."""

    allow_create_on_update = True
    allow_unconditional_update = False

    def validate(self, obj: Lease) -> FieldErrors:
        yield from validate_lease(obj)

    def desired_state(self, obj: Lease) -> object:
        return None
