"""Register the group's kind and its conversion to the event of core.

The internal type of an event is that of the core group, which must be registered first.
"""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import METADATA_LABELS, Scheme
from apis.core import v1 as core
from apis.events import GROUP, v1

V1: Final = GroupVersion(GROUP, "v1")

NAMES: Final = {
    "regarding": "involved_object",
    "note": "message",
    "reporting_controller": "reporting_component",
    "deprecated_source": "source",
    "deprecated_first_timestamp": "first_timestamp",
    "deprecated_last_timestamp": "last_timestamp",
    "deprecated_count": "count",
}
"""Field of events.k8s.io -> field of core."""

LABELS: Final = {
    **{
        f"regarding.{name}": f"involvedObject.{name}"
        for name in (
            "kind",
            "namespace",
            "name",
            "uid",
            "apiVersion",
            "resourceVersion",
            "fieldPath",
        )
    },
    "reportingController": "reportingComponent",
    **{name: name for name in ("reason", "source", "type", *METADATA_LABELS)},
}
"""Label of a field selector -> the label in core."""


def add_to_scheme(scheme: Scheme) -> None:
    """Register the group. Raises NotRegistered if core is not registered."""
    scheme.kinds_of(core.Event)
    scheme.add(V1, v1.Event)
    scheme.add_similar(v1.Event, core.Event, renames=NAMES)
    scheme.add_field_labels(V1.with_kind("Event"), field_label)


def field_label(label: str, value: str) -> tuple[str, str]:
    """Translate a field label of this group into that of core."""
    if label not in LABELS:
        raise ValueError(f"field label not supported: {label}")
    return LABELS[label], value
