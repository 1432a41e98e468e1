"""Defaulting functions of networking.k8s.io/v1."""

from apis.networking.v1.ingress_class import CLUSTER_SCOPE, IngressClassParametersReference
from apis.networking.v1.network_policy import (
    EGRESS,
    INGRESS,
    NetworkPolicyPort,
    NetworkPolicySpec,
)


def set_parameters_reference_defaults(parameters: IngressClassParametersReference) -> None:
    if parameters.scope is None:
        parameters.scope = CLUSTER_SCOPE


def set_network_policy_defaults(spec: NetworkPolicySpec) -> None:
    if not spec.policy_types:
        spec.policy_types = [INGRESS, EGRESS] if spec.egress else [INGRESS]


def set_network_policy_port_defaults(port: NetworkPolicyPort) -> None:
    if port.protocol is None:
        port.protocol = "TCP"
