"""Registration of events.k8s.io, for clients and servers: its kind and its conversion to core.

The internal version of an event is that of the core group, which must be in the scheme first.
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
"""Field in events.k8s.io -> field in core."""

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
"""Field-selector label in events.k8s.io -> label in core."""


def add_to_scheme(scheme: Scheme) -> None:
    """Add the group to a scheme. Raises NotRegistered if the core group is missing."""
    scheme.kinds_of(core.Event)
    scheme.add(V1, v1.Event)
    scheme.add_similar(v1.Event, core.Event, renames=NAMES)
    scheme.add_field_labels(V1.with_kind("Event"), field_label)


def field_label(label: str, value: str) -> tuple[str, str]:
    """Convert the label of a field selector to that of core. Raises ValueError."""
    if label not in LABELS:
        raise ValueError(f"field label not supported: {label}")
    return LABELS[label], value
