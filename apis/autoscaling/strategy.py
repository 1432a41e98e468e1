"""Strategy of HorizontalPodAutoscalers."""

from apimachinery.fieldpath import FieldErrors
from apis.autoscaling.v2.autoscaler import HorizontalPodAutoscaler
from apis.autoscaling.validation.autoscaler import (
    validate_autoscaler,
    validate_autoscaler_status,
)
from apiserver import Strategy


class HorizontalPodAutoscalerStrategy(Strategy[HorizontalPodAutoscaler]):
    """The rules of both versions: autoscaling/v1 is another view of the same objects."""

    qualified_finalizers = True
    status_updates_metadata = True

    def validate(self, obj: HorizontalPodAutoscaler) -> FieldErrors:
        yield from validate_autoscaler(obj)

    def validate_status_update(
        self, new: HorizontalPodAutoscaler, old: HorizontalPodAutoscaler
    ) -> FieldErrors:
        yield from validate_autoscaler_status(new.status)
