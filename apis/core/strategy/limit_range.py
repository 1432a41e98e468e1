"""Strategy of LimitRanges."""

from apimachinery.fieldpath import FieldErrors
from apis.core.v1.limit_range import LimitRange
from apis.core.validation.limit_range import validate_limit_range
from apiserver import Strategy


class LimitRangeStrategy(Strategy[LimitRange]):
    """Names are DNS subdomains."""

    allow_create_on_update = True

    def validate(self, obj: LimitRange) -> FieldErrors:
        yield from validate_limit_range(obj)

    def desired_state(self, obj: LimitRange) -> object:
        return None
