"""Printer columns of the kinds of networking.k8s.io."""

from typing import Final

from apimachinery.selectors.label_selector import format_label_selector
from apis.networking.v1 import Ingress, IngressClass, IPAddress, NetworkPolicy, ServiceCIDR
from apis.networking.v1.ingress_class import DEFAULT_CLASS_ANNOTATION
from apiserver.views.table import AGE, NAME, Column

_NONE: Final = "<none>"
_HOSTS_SHOWN: Final = 3


def ingress_class_name(ingress: Ingress) -> str:
    name = ingress.spec.ingress_class_name
    return _NONE if name is None else name


def ingress_hosts(ingress: Ingress) -> str:
    """Return the first hosts of the rules, and how many rules there are besides."""
    rules = ingress.spec.rules
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _HOSTS_SHOWN:
            return f"{','.join(hosts)} + {len(rules) - _HOSTS_SHOWN} more..."
        if rule.host:
            hosts.append(rule.host)
    return ",".join(hosts) or "*"


def ingress_address(ingress: Ingress) -> str:
    points = ingress.status.load_balancer.ingress
    return ",".join(sorted({point.ip or point.hostname for point in points} - {""}))


def ingress_ports(ingress: Ingress) -> str:
    return "80, 443" if ingress.spec.tls else "80"


def class_name(ingress_class: IngressClass) -> str:
    """Return the name of a class, marked if the class is the default."""
    meta = ingress_class.metadata
    is_default = meta.annotations.get(DEFAULT_CLASS_ANNOTATION) == "true"
    return f"{meta.name} (default)" if is_default else meta.name


def class_controller(ingress_class: IngressClass) -> str:
    return ingress_class.spec.controller


def class_parameters(ingress_class: IngressClass) -> str:
    parameters = ingress_class.spec.parameters
    if parameters is None:
        return _NONE
    group = "" if parameters.api_group is None else f".{parameters.api_group}"
    return f"{parameters.kind}{group}/{parameters.name}"


def policy_pods(policy: NetworkPolicy) -> str:
    return format_label_selector(policy.spec.pod_selector)


def address_parent(address: IPAddress) -> str:
    """Return the resource, namespace and name of the object that uses an address."""
    parent = address.spec.parent_ref
    if parent is None:
        return _NONE
    resource = f"{parent.resource}.{parent.group}" if parent.group else parent.resource
    return "/".join(filter(None, (resource.lower(), parent.namespace, parent.name)))


def service_ranges(service_cidr: ServiceCIDR) -> str:
    return ",".join(service_cidr.spec.cidrs)


INGRESS_COLUMNS: Final = (
    Column("Class", ingress_class_name, description="Class of the Ingress."),
    Column("Hosts", ingress_hosts, description="Hosts of the rules."),
    Column(
        "Address", ingress_address, description="Addresses where traffic enters the load balancer."
    ),
    Column("Ports", ingress_ports, description="Ports that are open: 80, and 443 with TLS."),
)

INGRESS_CLASS_COLUMNS: Final = (
    Column("Name", class_name, format="name", description=NAME.description, metadata_only=True),
    Column("Controller", class_controller, description="Controller of the class."),
    Column("Parameters", class_parameters, description="Object with parameters of the class."),
    AGE,
)

# As in Kubernetes, the table of addresses has no age.
IP_ADDRESS_COLUMNS: Final = (
    NAME,
    Column("ParentRef", address_parent, description="Object that uses the address."),
)

NETWORK_POLICY_COLUMNS: Final = (
    Column("Pod-Selector", policy_pods, description="Selector of the pods of the policy."),
)

SERVICE_CIDR_COLUMNS: Final = (
    Column("CIDRs", service_ranges, description="Ranges that cluster IPs are allocated from."),
)
