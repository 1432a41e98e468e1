"""Services: defaults, what is wrong with one, and what may change."""

from typing import Any

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.core.strategy import ServiceStrategy
from apis.core.v1 import Service, ServicePort
from tests.apis.validating import decoded, messages

STRATEGY = ServiceStrategy()
HTTP = {"port": 80}


def read(spec: dict[str, Any], status: dict[str, Any] | None = None, **meta: Any) -> Service:
    document = {"metadata": {"name": "web", **meta}, "spec": spec, "status": status or {}}
    return decoded(Service, document)


def created(spec: dict[str, Any], **meta: Any) -> Service:
    made = read(spec, **meta)
    STRATEGY.prepare_for_create(made)
    return made


def errors(spec: dict[str, Any], **meta: Any) -> list[str]:
    return messages(STRATEGY.validate(created({"ports": [HTTP], **spec}, **meta)))


def updated(new: dict[str, Any], old: dict[str, Any]) -> Service:
    before, after = created({"ports": [HTTP], **old}), read({"ports": [HTTP], **new})
    STRATEGY.prepare_for_update(after, before)
    return after


def update_errors(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    before, after = created({"ports": [HTTP], **old}), updated(new, old)
    return messages(STRATEGY.validate_update(after, before))


def test_names_are_host_names() -> None:
    assert STRATEGY.name_errors("web") == []
    assert STRATEGY.name_errors("1web") == []
    assert STRATEGY.name_errors("a_b")[0].startswith("a lowercase RFC 1123 label must consist of")


def test_the_smallest_service_gets_its_defaults() -> None:
    spec = created({"ports": [{"port": 80}]}).spec

    assert spec.model_dump(by_alias=True, mode="json") == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilyPolicy": "SingleStack",
        "ipFamilies": ["IPv4"],
        "internalTrafficPolicy": "Cluster",
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster"}),
        ({"externalIPs": ["1.2.3.4"]}, {"externalTrafficPolicy": "Cluster"}),
        ({"type": "LoadBalancer"}, {"allocateLoadBalancerNodePorts": True}),
        (
            {"sessionAffinity": "ClientIP"},
            {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}},
        ),
        (
            {
                "sessionAffinity": "ClientIP",
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}},
            },
            {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}},
        ),
        ({"ports": [{"port": 80, "targetPort": "http"}]}, {"type": "ClusterIP"}),
        ({"clusterIP": "None", "selector": {"a": "b"}}, {"clusterIPs": ["None"]}),
        ({"clusterIP": "fd00::1"}, {"ipFamilies": ["IPv6"], "clusterIPs": ["fd00::1"]}),
        ({"clusterIP": "None"}, {"ipFamilies": ["IPv4", "IPv6"]}),
        ({"ipFamilyPolicy": "RequireDualStack"}, {"ipFamilies": ["IPv4", "IPv6"]}),
        ({"ipFamilies": ["IPv6", "IPv4"]}, {"ipFamilyPolicy": "RequireDualStack"}),
    ],
)
def test_defaults_depend_on_the_rest(spec: dict[str, Any], expected: dict[str, Any]) -> None:
    found = created({"ports": [HTTP], **spec}).spec.model_dump(by_alias=True, mode="json")

    assert found.items() >= expected.items()


def test_an_external_name_has_no_addresses() -> None:
    spec = created({"type": "ExternalName", "externalName": "db.example.io."}).spec

    assert (spec.ip_families, spec.ip_family_policy, spec.internal_traffic_policy) == (
        [],
        None,
        None,
    )


def test_the_address_of_a_balancer_is_virtual_unless_said() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}

    found = read({"type": "LoadBalancer"}, status)

    assert found.status.load_balancer.ingress[0].ip_mode == "VIP"


PORT_RULE = "must be between 1 and 65535, inclusive"
BALANCERS_ONLY = "may only be used when `type` is 'LoadBalancer'"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"ports": []}, ["spec.ports: Required value"]),
        ({"ports": [], "clusterIP": "None"}, []),
        (
            {"type": "Odd"},
            [
                'spec.type: Unsupported value: "Odd": supported values: '
                '"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'
            ],
        ),
        (
            {"ports": [{"port": 0}]},
            [
                f"spec.ports[0].port: Invalid value: 0: {PORT_RULE}",
                f"spec.ports[0].targetPort: Invalid value: 0: {PORT_RULE}",
            ],
        ),
        (
            {"ports": [{"port": 80, "targetPort": "bad--name"}]},
            [
                'spec.ports[0].targetPort: Invalid value: "bad--name": '
                "must not contain consecutive hyphens"
            ],
        ),
        (
            {"ports": [{"port": 80, "protocol": "ICMP"}]},
            [
                'spec.ports[0].protocol: Unsupported value: "ICMP": '
                'supported values: "SCTP", "TCP", "UDP"'
            ],
        ),
        (
            {"ports": [{"port": 80}, {"port": 81, "name": "a"}]},
            ["spec.ports[0].name: Required value"],
        ),
        (
            {"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]},
            ['spec.ports[1].name: Duplicate value: "a"'],
        ),
        (
            {"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
            [
                'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,'
                '"Port":80,"TargetPort":0,"NodePort":0}'
            ],
        ),
        (
            {"ports": [{"port": 80, "nodePort": 30000}]},
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        (
            {
                "type": "NodePort",
                "ports": [
                    {"port": 80, "name": "a", "nodePort": 30000},
                    {"port": 81, "name": "b", "nodePort": 30000},
                ],
            },
            ["spec.ports[1].nodePort: Duplicate value: 30000"],
        ),
        (
            {"sessionAffinity": "Odd"},
            [
                'spec.sessionAffinity: Unsupported value: "Odd": '
                'supported values: "ClientIP", "None"'
            ],
        ),
        (
            {
                "sessionAffinity": "ClientIP",
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 86401}},
            },
            [
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: "
                "must be greater than 0 and less than 86400"
            ],
        ),
        (
            {"type": "NodePort", "clusterIP": "None"},
            [
                'spec.clusterIPs[0]: Invalid value: "None": '
                "may not be set to 'None' for NodePort services"
            ],
        ),
        ({"type": "ExternalName"}, ["spec.externalName: Required value"]),
        (
            {"type": "ExternalName", "externalName": "a", "clusterIP": "10.0.0.1"},
            ["spec.clusterIPs: Forbidden: may not be set for ExternalName services"],
        ),
        (
            {"clusterIP": "10.0.0.256"},
            [
                'spec.clusterIPs[0]: Invalid value: "10.0.0.256": '
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            ],
        ),
        (
            {"clusterIPs": ["10.0.0.1"]},
            [
                'spec.clusterIPs: Invalid value: ["10.0.0.1"]: '
                "must be empty when `clusterIP` is not specified"
            ],
        ),
        (
            {"clusterIP": "10.0.0.2", "clusterIPs": ["10.0.0.1"]},
            ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: first value must match `clusterIP`'],
        ),
        (
            {"clusterIP": "None", "clusterIPs": ["None", "10.0.0.1"]},
            [
                'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: '
                "'None' must be the first and only value"
            ],
        ),
        (
            {
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1", "10.0.0.2"],
                "ipFamilies": ["IPv4", "IPv6"],
            },
            [
                'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: '
                "may specify no more than one IP for each IP family",
                'spec.clusterIPs[1]: Invalid value: "10.0.0.2": '
                "expected an IPv6 value as indicated by `ipFamilies[1]`",
            ],
        ),
        (
            {"ipFamilies": ["IPv4", "IPv4"]},
            ['spec.ipFamilies[1]: Duplicate value: "IPv4"'],
        ),
        (
            {"ipFamilyPolicy": "Odd"},
            [
                'spec.ipFamilyPolicy: Unsupported value: "Odd": supported values: '
                '"PreferDualStack", "RequireDualStack", "SingleStack"'
            ],
        ),
        (
            {"externalIPs": ["127.0.0.1", "0.0.0.0", "169.254.1.1", "ff02::1", "x"]},
            [
                'spec.externalIPs[0]: Invalid value: "127.0.0.1": '
                "may not be in the loopback range (127.0.0.0/8, ::1/128)",
                'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
                'spec.externalIPs[2]: Invalid value: "169.254.1.1": '
                "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
                'spec.externalIPs[3]: Invalid value: "ff02::1": '
                "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
                'spec.externalIPs[4]: Invalid value: "x": '
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ],
        ),
        (
            {"loadBalancerSourceRanges": ["10.0.0.0/8"]},
            [f"spec.LoadBalancerSourceRanges: Forbidden: {BALANCERS_ONLY}"],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerSourceRanges": [" 10.0.0.0/8", "10.0.0.0/99"]},
            [
                'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.0/99": '
                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            ],
        ),
        (
            {"allocateLoadBalancerNodePorts": True, "loadBalancerClass": "a/b"},
            [
                f"spec.allocateLoadBalancerNodePorts: Forbidden: {BALANCERS_ONLY}",
                f"spec.loadBalancerClass: Forbidden: {BALANCERS_ONLY}",
            ],
        ),
        (
            {"externalTrafficPolicy": "Local"},
            [
                'spec.externalTrafficPolicy: Invalid value: "Local": '
                "may only be set for externally-accessible services"
            ],
        ),
        ({"type": "LoadBalancer", "externalTrafficPolicy": "Local"}, []),
        (
            {"type": "LoadBalancer", "healthCheckNodePort": 30000},
            [
                "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
                "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            ],
        ),
        (
            {"internalTrafficPolicy": "Odd", "trafficDistribution": "Odd"},
            [
                'spec.internalTrafficPolicy: Unsupported value: "Odd": '
                'supported values: "Cluster", "Local"',
                'spec.trafficDistribution: Unsupported value: "Odd": supported values: '
                '"PreferClose", "PreferSameNode", "PreferSameZone"',
            ],
        ),
    ],
)
def test_services(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors(spec) == expected


def test_two_annotations_must_not_contradict_each_other() -> None:
    annotations = {
        "service.kubernetes.io/topology-mode": "Auto",
        "service.kubernetes.io/topology-aware-hints": "Disabled",
    }

    assert errors({}, annotations=annotations) == [
        'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": '
        "must match annotations[service.kubernetes.io/topology-aware-hints] "
        "when both are specified"
    ]


def test_source_ranges_may_be_an_annotation() -> None:
    key = "service.beta.kubernetes.io/load-balancer-source-ranges"

    assert errors({}, annotations={key: "10.0.0.0/8, x"}) == [
        f"metadata.annotations[{key}]: Forbidden: {BALANCERS_ONLY}",
        f'metadata.annotations[{key}]: Invalid value: "x": '
        "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
    ]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({}, {"clusterIP": "10.0.0.1"}, []),
        (
            {"clusterIP": "10.0.0.2"},
            {"clusterIP": "10.0.0.1"},
            ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
        ),
        ({"type": "ExternalName", "externalName": "a"}, {"clusterIP": "10.0.0.1"}, []),
        (
            {
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1"],
                "ipFamilyPolicy": "SingleStack",
            },
            {
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1", "fd00::1"],
                "ipFamilies": ["IPv4", "IPv6"],
                "ipFamilyPolicy": "PreferDualStack",
            },
            [],
        ),
        (
            {
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1"],
                "ipFamilyPolicy": "PreferDualStack",
            },
            {
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1", "fd00::1"],
                "ipFamilies": ["IPv4", "IPv6"],
                "ipFamilyPolicy": "PreferDualStack",
            },
            [
                'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": '
                "must be set to 'SingleStack' when releasing the secondary clusterIP",
                'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": '
                "must be set to 'SingleStack' when releasing the secondary ipFamily",
            ],
        ),
        (
            {"ipFamilies": ["IPv6"]},
            {"ipFamilies": ["IPv4"]},
            ['spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set'],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerClass": "a/b"},
            {"type": "LoadBalancer", "loadBalancerClass": "a/c"},
            ['spec.loadBalancerClass: Invalid value: "a/b": may not change once set'],
        ),
        (
            {
                "type": "LoadBalancer",
                "externalTrafficPolicy": "Local",
                "healthCheckNodePort": 30001,
            },
            {
                "type": "LoadBalancer",
                "externalTrafficPolicy": "Local",
                "healthCheckNodePort": 30000,
            },
            ["spec.healthCheckNodePort: Forbidden: field is immutable"],
        ),
    ],
)
def test_updates(new: dict[str, Any], old: dict[str, Any], expected: list[str]) -> None:
    assert update_errors(new, old) == expected


def test_an_update_keeps_what_an_older_client_leaves_out() -> None:
    old = {
        "type": "LoadBalancer",
        "clusterIP": "10.0.0.1",
        "externalTrafficPolicy": "Local",
        "healthCheckNodePort": 30001,
        "ports": [{"port": 80, "nodePort": 30000}],
    }
    new = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]}

    spec = updated(new, old).spec

    assert (spec.cluster_ip, spec.cluster_ips) == ("10.0.0.1", ["10.0.0.1"])
    assert (spec.health_check_node_port, spec.ports[0].node_port) == (30001, 30000)


def test_an_update_that_says_nothing_of_families_keeps_them() -> None:
    old = {"ipFamilies": ["IPv6", "IPv4"], "ipFamilyPolicy": "PreferDualStack"}

    spec = updated({}, old).spec

    assert (spec.ip_families, spec.ip_family_policy) == (["IPv6", "IPv4"], "PreferDualStack")


def test_a_node_port_that_moved_to_another_port_is_not_given_twice() -> None:
    old = {
        "type": "NodePort",
        "ports": [{"name": "a", "port": 80, "nodePort": 30000}, {"name": "b", "port": 81}],
    }
    new = {
        "type": "NodePort",
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30000}],
    }

    assert [port.node_port for port in updated(new, old).spec.ports] == [0, 30000]


def test_what_means_nothing_to_the_new_type_goes() -> None:
    old = {
        "type": "LoadBalancer",
        "clusterIP": "10.0.0.1",
        "externalTrafficPolicy": "Local",
        "loadBalancerClass": "a/b",
        "ports": [{"port": 80, "nodePort": 30000}],
    }
    new = {**old, "type": "ClusterIP", "allocateLoadBalancerNodePorts": True}

    after = updated(new, old)

    assert messages(STRATEGY.validate_update(after, created(old))) == []
    assert after.spec.cluster_ip == "10.0.0.1"
    assert after.spec.ports == [ServicePort(port=80, target_port=80)]
    assert after.spec.load_balancer_class is None
    assert after.spec.allocate_load_balancer_node_ports is None


def test_what_a_client_changes_together_with_the_type_is_refused() -> None:
    old = {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]}
    new = {"type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30001}]}

    assert update_errors(new, old) == [
        "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"
    ]


@pytest.mark.parametrize(
    ("ingress", "expected"),
    [
        ({"ip": "1.2.3.4"}, []),
        (
            {"ip": "1.2.3.4", "ipMode": "Odd"},
            ['[0].ipMode: Unsupported value: "Odd": supported values: "Proxy", "VIP"'],
        ),
        (
            {"hostname": "a", "ipMode": "VIP"},
            ["[0].ipMode: Forbidden: may not be specified when `ip` is not set"],
        ),
        (
            {"hostname": "1.2.3.4"},
            ['[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
        ),
    ],
)
def test_the_status_of_a_balancer(ingress: dict[str, Any], expected: list[str]) -> None:
    new = read({"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [ingress]}})

    found = messages(STRATEGY.validate_status_update(new, new))

    assert found == [f"status.loadBalancer.ingress{rest}" for rest in expected]


def test_only_a_balancer_has_the_status_of_one() -> None:
    new = read({}, {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}})

    assert messages(STRATEGY.validate_status_update(new, new)) == [
        "status.loadBalancer.ingress: Forbidden: "
        "may only be used when `spec.type` is 'LoadBalancer'"
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {"clusterIP": "None", "sessionAffinity": "ClientIP"},
            ["spec.SessionAffinity is ignored for headless services"],
        ),
        (
            {"externalName": "a"},
            ['spec.externalName is ignored when spec.type is not "ExternalName"'],
        ),
        (
            {"trafficDistribution": "PreferClose"},
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
    ],
)
def test_warnings(spec: dict[str, Any], expected: list[str]) -> None:
    assert list(STRATEGY.warnings(created(spec))) == expected


def test_a_bare_object_is_refused_and_breaks_nothing() -> None:
    """Not every caller sends a document with defaults."""
    bare = Service(metadata=ObjectMeta(name="web"))

    assert messages(STRATEGY.validate(bare)) == [
        "spec.ports: Required value",
        "spec.sessionAffinity: Required value",
        "spec.type: Required value",
    ]
