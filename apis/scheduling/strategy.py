"""Strategy of PriorityClasses."""

from apimachinery.fieldpath import FieldErrors
from apis.scheduling.v1 import PriorityClass
from apis.scheduling.validation import validate_priority_class, validate_priority_class_update
from apiserver import Strategy


class PriorityClassStrategy(Strategy[PriorityClass]):
    """The value and the preemption policy are immutable; the generation stays 1."""

    qualified_finalizers = True

    def validate(self, obj: PriorityClass) -> FieldErrors:
        yield from validate_priority_class(obj)

    def validate_update(self, new: PriorityClass, old: PriorityClass) -> FieldErrors:
        yield from validate_priority_class_update(new, old)

    def desired_state(self, obj: PriorityClass) -> object:
        return "unchanged"
