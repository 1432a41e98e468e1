"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "APIResource.verbs": "v1.Verbs",
    "Condition.status": "v1.ConditionStatus",
    "DeleteOptions.propagationPolicy": "v1.DeletionPropagation",
    "LabelSelectorRequirement.operator": "v1.LabelSelectorOperator",
    "ListOptions.resourceVersionMatch": "v1.ResourceVersionMatch",
    "ManagedFieldsEntry.operation": "v1.ManagedFieldsOperationType",
    "ObjectMeta.uid": "types.UID",
    "OwnerReference.uid": "types.UID",
    "Preconditions.uid": "types.UID",
    "Status.reason": "v1.StatusReason",
    "StatusCause.reason": "v1.CauseType",
    "StatusDetails.uid": "types.UID",
    "TableOptions.includeObject": "v1.IncludeObjectPolicy",
    "TableRowCondition.status": "v1.ConditionStatus",
    "TableRowCondition.type": "v1.RowConditionType",
}
