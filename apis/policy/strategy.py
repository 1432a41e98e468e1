"""Strategy of PodDisruptionBudgets."""

from typing import Final

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import path_segment_name
from apimachinery.meta.types import LabelSelector, LabelSelectorRequirement
from apis.policy.v1 import PodDisruptionBudget
from apis.policy.v1.types import MATCH_ALL_KEY
from apis.policy.validation import validate_budget, validate_budget_status
from apiserver import Strategy

_MATCH_NONE: Final = LabelSelectorRequirement(key=MATCH_ALL_KEY, operator="Exists")
_MATCH_ALL: Final = LabelSelectorRequirement(key=MATCH_ALL_KEY, operator="DoesNotExist")


class PodDisruptionBudgetStrategy(Strategy[PodDisruptionBudget]):
    """Every update needs a resourceVersion: evictions count on the budget they have read."""

    allow_unconditional_update = False
    status_updates_metadata = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        # Kubernetes has no rule of its own for the names of budgets.
        return path_segment_name(name, prefix)

    def prepare_for_create(self, obj: PodDisruptionBudget) -> None:
        _drop_match_all_key(obj.spec.selector)

    def prepare_for_update(self, new: PodDisruptionBudget, old: PodDisruptionBudget) -> None:
        if new.spec.selector != old.spec.selector:
            _drop_match_all_key(new.spec.selector)

    def validate(self, obj: PodDisruptionBudget) -> FieldErrors:
        yield from validate_budget(obj)

    def validate_update(self, new: PodDisruptionBudget, old: PodDisruptionBudget) -> FieldErrors:
        yield from validate_budget(new)

    def validate_status_update(
        self, new: PodDisruptionBudget, old: PodDisruptionBudget
    ) -> FieldErrors:
        yield from validate_budget_status(new.status)


def _drop_match_all_key(selector: LabelSelector | None) -> None:
    """Remove the key of v1beta1 from a selector that has other requirements as well."""
    if selector is None:
        return
    if not selector.match_labels and selector.match_expressions in ([_MATCH_NONE], [_MATCH_ALL]):
        return
    selector.match_expressions = [
        expression for expression in selector.match_expressions if expression.key != MATCH_ALL_KEY
    ]
