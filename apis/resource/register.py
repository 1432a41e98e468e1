"""Registration of resource.k8s.io, for clients and servers."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.resource import GROUP, v1
from apis.resource.v1 import defaults

SLICE_FIELDS: Final = ("spec.nodeName", "spec.driver", "spec.pool.name")


def slice_field(label: str, value: str) -> tuple[str, str]:
    """Return a field label of ResourceSlices; raise ValueError for any other."""
    if label not in ("metadata.name", *SLICE_FIELDS):
        kind = f"{GROUP}/v1, Kind=ResourceSlice"
        raise ValueError(f"field label not supported for {kind}: {label}")
    return label, value


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        GroupVersion(GROUP, "v1"),
        v1.DeviceClass,
        v1.DeviceTaintRule,
        v1.ResourceClaim,
        v1.ResourceClaimTemplate,
        v1.ResourceSlice,
        internal=True,
    )
    scheme.add_field_labels(GroupVersion(GROUP, "v1").with_kind("ResourceSlice"), slice_field)
    scheme.add_defaults(
        defaults.set_exact_request_defaults,
        defaults.set_sub_request_defaults,
        defaults.set_toleration_defaults,
    )
