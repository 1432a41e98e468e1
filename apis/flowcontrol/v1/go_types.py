"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "FlowDistinguisherMethod.type": "v1.FlowDistinguisherMethodType",
    "FlowSchemaCondition.status": "v1.ConditionStatus",
    "FlowSchemaCondition.type": "v1.FlowSchemaConditionType",
    "LimitResponse.type": "v1.LimitResponseType",
    "PriorityLevelConfigurationCondition.status": "v1.ConditionStatus",
    "PriorityLevelConfigurationCondition.type": "v1.PriorityLevelConfigurationConditionType",
    "PriorityLevelConfigurationSpec.type": "v1.PriorityLevelEnablement",
    "Subject.kind": "v1.SubjectKind",
}
