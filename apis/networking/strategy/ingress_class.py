"""Strategy of IngressClasses."""

from apimachinery.fieldpath import FieldErrors
from apis.networking.v1 import IngressClass
from apis.networking.validation.ingress_class import (
    validate_ingress_class,
    validate_ingress_class_update,
)
from apiserver import Strategy


class IngressClassStrategy(Strategy[IngressClass]):
    """The controller of a class is immutable."""

    qualified_finalizers = True

    def validate(self, obj: IngressClass) -> FieldErrors:
        yield from validate_ingress_class(obj)

    def validate_update(self, new: IngressClass, old: IngressClass) -> FieldErrors:
        yield from validate_ingress_class_update(new, old)
