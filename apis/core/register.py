"""Registration of the core kinds that every server has: kinds, defaults and field labels.

`register_full.py` adds the other kinds of the group.
"""

from collections.abc import Mapping
from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.core import GROUP, v1
from apis.core.v1.defaults import standard_kinds as defaults

V1: Final = GroupVersion(GROUP, "v1")

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Event": {
        **{
            f"involvedObject.{name}": f"involvedObject.{name}"
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
        "reason": "reason",
        "reportingComponent": "reportingComponent",
        "source": "source.component",
        "type": "type",
    },
    "Namespace": {"status.phase": "status.phase"},
    "Secret": {"type": "type"},
    "Service": {"spec.clusterIP": "spec.clusterIP", "spec.type": "spec.type"},
}
"""Kind -> field-selector label -> path of the value; every kind also has metadata.name."""


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        V1,
        v1.ConfigMap,
        v1.Event,
        v1.Namespace,
        v1.Secret,
        v1.Service,
        v1.ServiceAccount,
        internal=True,
    )
    scheme.add_defaults(
        defaults.set_namespace_defaults,
        defaults.set_namespace_status_defaults,
        defaults.set_secret_defaults,
        defaults.set_service_defaults,
        defaults.set_service_port_defaults,
    )
    for kind, labels in FIELDS.items():
        scheme.add_field_labels(V1.with_kind(kind), labels)
