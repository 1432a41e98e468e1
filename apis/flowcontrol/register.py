"""Registration of flowcontrol.apiserver.k8s.io, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.flowcontrol import GROUP, v1
from apis.flowcontrol.v1 import defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        GroupVersion(GROUP, "v1"), v1.FlowSchema, v1.PriorityLevelConfiguration, internal=True
    )
    scheme.add_defaults(
        defaults.set_flow_schema_spec_defaults,
        defaults.set_exempt_level_defaults,
        defaults.set_limited_level_defaults,
        defaults.set_queuing_defaults,
    )
