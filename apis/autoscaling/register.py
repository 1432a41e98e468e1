"""Register the group's kinds, defaults and conversions, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.autoscaling import GROUP, v1, v2
from apis.autoscaling.v1.conversion import autoscaler_from_internal, autoscaler_to_internal
from apis.autoscaling.v1.defaults import set_autoscaler_spec_defaults
from apis.autoscaling.v2.defaults import set_autoscaler_defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v2"), v2.HorizontalPodAutoscaler, internal=True)
    scheme.add(GroupVersion(GROUP, "v1"), v1.HorizontalPodAutoscaler)
    scheme.add_conversion(autoscaler_to_internal, autoscaler_from_internal)
    scheme.add_defaults(set_autoscaler_defaults, set_autoscaler_spec_defaults)
