"""Strategy of Leases."""

from apimachinery.fieldpath import FieldErrors
from apis.coordination.v1 import Lease
from apis.coordination.validation import validate_lease
from apiserver import Strategy


class LeaseStrategy(Strategy[Lease]):
    """Every update needs a resourceVersion, so that two clients cannot both acquire a lease."""

    allow_create_on_update = True
    allow_unconditional_update = False

    def validate(self, obj: Lease) -> FieldErrors:
        yield from validate_lease(obj)

    def desired_state(self, obj: Lease) -> object:
        return None
