"""What makes a scale wrong."""

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.meta.validation import validate_nonnegative
from apis.autoscaling.v1 import Scale


def validate_scale(scale: Scale) -> FieldErrors:
    yield from validate_nonnegative(scale.spec.replicas, Path("spec", "replicas"))
