"""Strategy of LimitRanges."""

from uuid import uuid4

from apimachinery.fieldpath import FieldErrors
from apis.core.v1.limit_range import LimitRange
from apis.core.validation.limit_range import validate_limit_range
from apiserver import Strategy


class LimitRangeStrategy(Strategy[LimitRange]):
    """Names are DNS subdomains; a limit range without a name gets a random one."""

    qualified_finalizers = True
    allow_create_on_update = True

    def prepare_for_create(self, obj: LimitRange) -> None:
        obj.metadata.name = obj.metadata.name or str(uuid4())

    def validate(self, obj: LimitRange) -> FieldErrors:
        yield from validate_limit_range(obj)

    def desired_state(self, obj: LimitRange) -> object:
        return None
