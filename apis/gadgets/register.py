"""Register the group's kinds, defaults and conversions, for clients and servers."""

from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apis.gadgets import GROUP, types, v1, v1beta1
from apis.gadgets.v1.conversion import spec_from_internal, spec_to_internal
from apis.gadgets.v1beta1.defaults import set_spec_defaults

PARTS_ANNOTATION = f"{GROUP}/parts"
"""Where a v1beta1 object keeps the parts it has no field for."""


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, INTERNAL), types.Gadget)
    scheme.add(GroupVersion(GROUP, "v1"), v1.Gadget)
    scheme.add_conversion(spec_to_internal, spec_from_internal)
    # The functions convert the spec. The rename is for errors, which name the field of v1.
    scheme.add_similar(v1.Gadget, types.Gadget, renames={"spec.timeout_seconds": "spec.timeout"})

    scheme.add(GroupVersion(GROUP, "v1beta1"), v1beta1.Gadget)
    scheme.add_defaults(set_spec_defaults)
    scheme.add_similar(
        v1beta1.Gadget,
        types.Gadget,
        renames={"spec.count": "spec.replicas"},
        kept={"spec.parts": PARTS_ANNOTATION},
        dropped={"spec.color"},
    )
