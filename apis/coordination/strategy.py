"""Strategy of Leases."""

from apimachinery.fieldpath import FieldErrors
from apis.coordination.v1 import Lease
from apis.coordination.validation import validate_lease
from apiserver import Strategy


class LeaseStrategy(Strategy[Lease]):
    """Every update needs a resourceVersion, so that two clients cannot both acquire a lease.

    The fields of coordinated leader election are dropped, a feature that is off by default.
    """

    allow_create_on_update = True
    allow_unconditional_update = False

    def prepare_for_create(self, obj: Lease) -> None:
        obj.spec.strategy = None
        obj.spec.preferred_holder = None

    def prepare_for_update(self, new: Lease, old: Lease) -> None:
        if old.spec.strategy is None:
            new.spec.strategy = None
        if old.spec.preferred_holder is None:
            new.spec.preferred_holder = None

    def validate(self, obj: Lease) -> FieldErrors:
        yield from validate_lease(obj)

    def desired_state(self, obj: Lease) -> object:
        return None
