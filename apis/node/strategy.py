"""Strategy of RuntimeClasses."""

from collections.abc import Iterator

from apimachinery.fieldpath import FieldErrors
from apis.core.validation.node_labels import DEPRECATED_NODE_LABELS
from apis.node.v1 import RuntimeClass
from apis.node.validation import validate_runtime_class, validate_runtime_class_update
from apiserver import Strategy


class RuntimeClassStrategy(Strategy[RuntimeClass]):
    """A PUT creates a missing class, and needs the resourceVersion of an existing one."""

    allow_create_on_update = True
    allow_unconditional_update = False

    def validate(self, obj: RuntimeClass) -> FieldErrors:
        yield from validate_runtime_class(obj)

    def validate_update(self, new: RuntimeClass, old: RuntimeClass) -> FieldErrors:
        yield from validate_runtime_class_update(new, old)

    def warnings(self, obj: RuntimeClass, old: RuntimeClass | None = None) -> Iterator[str]:
        selector = obj.scheduling.node_selector if obj.scheduling is not None else {}
        for label in sorted(selector.keys() & DEPRECATED_NODE_LABELS.keys()):
            yield f"scheduling.nodeSelector: {DEPRECATED_NODE_LABELS[label]}"

    def desired_state(self, obj: RuntimeClass) -> object:
        return None
