"""Ingresses, IngressClasses and NetworkPolicies: defaults, columns, warnings and admission."""

from typing import Any

import pytest

from apimachinery.meta.types import Object
from apis.kubernetes import KUBERNETES
from apis.networking.install import NETWORKING
from apis.networking.strategy import IngressStrategy, NetworkPolicyStrategy
from apis.networking.v1 import Ingress, IngressClass, NetworkPolicy
from client.testing import environment
from tests.apis.validating import decoded, messages

BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
DEFAULT = {"ingressclass.kubernetes.io/is-default-class": "true"}


def ingress(spec: dict[str, Any], status: dict[str, Any] | None = None, **meta: Any) -> Ingress:
    document = {"metadata": {"name": "web", **meta}, "spec": spec, "status": status or {}}
    return decoded(Ingress, document)


def ingress_class(parameters: dict[str, Any] | None = None, **meta: Any) -> IngressClass:
    spec = {"controller": "acme.io/ingress", "parameters": parameters}
    return decoded(IngressClass, {"metadata": {"name": "acme", **meta}, "spec": spec})


def policy(spec: dict[str, Any]) -> NetworkPolicy:
    return decoded(NetworkPolicy, {"metadata": {"name": "web"}, "spec": spec})


def row(resource: str, obj: Object) -> dict[str, Any]:
    columns = next(found.columns for found in NETWORKING.resources if found.name == resource)
    return {column.name: column.cell(obj) for column in columns if column.name != "Age"}


def test_the_parameters_of_a_class_are_cluster_scoped_by_default() -> None:
    made = ingress_class({"kind": "Config", "name": "a"})

    assert made.spec.parameters is not None
    assert made.spec.parameters.scope == "Cluster"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["Ingress"]),
        ({"egress": [{}]}, ["Ingress", "Egress"]),
        ({"egress": [{}], "policyTypes": ["Egress"]}, ["Egress"]),
    ],
)
def test_a_policy_restricts_what_it_has_rules_for(
    spec: dict[str, Any], expected: list[str]
) -> None:
    assert policy(spec).spec.policy_types == expected


def test_ports_are_of_tcp_by_default() -> None:
    made = policy({"ingress": [{"ports": [{"port": 80}]}], "egress": [{"ports": [{}]}]})

    assert made.spec.ingress[0].ports[0].protocol == "TCP"
    assert made.spec.egress[0].ports[0].protocol == "TCP"


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ([], "*"),
        (["", ""], "*"),
        (["a", "", "b"], "a,b"),
        (["a", "b", "c"], "a,b,c"),
        (["a", "b", "c", ""], "a,b,c + 1 more..."),
        (["a", "b", "c", "d", "e"], "a,b,c + 2 more..."),
    ],
)
def test_hosts_of_an_ingress(hosts: list[str], expected: str) -> None:
    made = ingress({"rules": [{"host": host} for host in hosts]})

    assert row("ingresses", made)["Hosts"] == expected


def test_columns_of_an_ingress() -> None:
    points = [{"ip": "2.2.2.2"}, {"hostname": "lb.example.com"}, {"ip": "1.1.1.1"}, {}]
    status = {"loadBalancer": {"ingress": points}}

    assert row("ingresses", ingress({"ingressClassName": "acme", "tls": [{}]}, status)) == {
        "Class": "acme",
        "Hosts": "*",
        "Address": "1.1.1.1,2.2.2.2,lb.example.com",
        "Ports": "80, 443",
    }
    assert row("ingresses", ingress({})) == {
        "Class": "<none>",
        "Hosts": "*",
        "Address": "",
        "Ports": "80",
    }


def test_columns_of_a_class() -> None:
    plain, other = (
        ingress_class(),
        ingress_class({"apiGroup": "acme.io", "kind": "Config", "name": "a"}, annotations=DEFAULT),
    )

    assert row("ingressclasses", plain) == {
        "Name": "acme",
        "Controller": "acme.io/ingress",
        "Parameters": "<none>",
    }
    assert row("ingressclasses", other) == {
        "Name": "acme (default)",
        "Controller": "acme.io/ingress",
        "Parameters": "Config.acme.io/a",
    }


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, "<none>"),
        (
            {
                "matchLabels": {"b": "1"},
                "matchExpressions": [
                    {"key": "c", "operator": "In", "values": ["y", "x"]},
                    {"key": "a", "operator": "DoesNotExist"},
                ],
            },
            "!a,b=1,c in (x,y)",
        ),
        ({"matchExpressions": [{"key": "a", "operator": "Odd"}]}, "<error>"),
    ],
)
def test_columns_of_a_policy(selector: dict[str, Any], expected: str) -> None:
    shown = row("networkpolicies", policy({"podSelector": selector}))

    assert shown == {"Pod-Selector": expected}


def test_the_annotation_of_the_class_is_deprecated() -> None:
    annotated = ingress({}, annotations={"kubernetes.io/ingress.class": "acme"})

    assert list(IngressStrategy().warnings(annotated)) == [
        'annotation "kubernetes.io/ingress.class" is deprecated, please use'
        " 'spec.ingressClassName' instead"
    ]
    assert list(IngressStrategy().warnings(annotated, annotated)) == []


STATUS_MISTAKES = {
    "ip": [
        ("1.2.3", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("010.0.0.1", "must not have leading 0s"),
        ("::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
    ],
    "hostname": [("1.2.3.4", "must be a DNS name, not an IP address")],
}


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [(field, *mistake) for field, found in STATUS_MISTAKES.items() for mistake in found],
)
def test_mistakes_in_the_status_of_an_ingress(field: str, value: str, rule: str) -> None:
    new = ingress({}, {"loadBalancer": {"ingress": [{field: value}]}})

    assert messages(IngressStrategy().validate_status_update(new, ingress({}))) == [
        f'status.loadBalancer.ingress[0].{field}: Invalid value: "{value}": {rule}'
    ]


def test_an_address_in_the_status_should_be_canonical() -> None:
    new = ingress({}, {"loadBalancer": {"ingress": [{"ip": "FE80::1"}]}})

    assert list(IngressStrategy().warnings(new, ingress({}))) == [
        'status.loadBalancer.ingress[0]: IPv6 address "FE80::1" should be in RFC 5952 canonical'
        ' format ("fe80::1")'
    ]


def test_ranges_of_a_policy_should_be_canonical() -> None:
    block = {"ipBlock": {"cidr": "2001:DB8::/32", "except": ["2001:DB8:1::/48"]}}
    made = policy(
        {"ingress": [{"from": [block]}], "egress": [{"to": [{"podSelector": {}}, block]}]}
    )

    assert [text.partition(":")[0] for text in NetworkPolicyStrategy().warnings(made)] == [
        "spec.ingress[0].from[0].ipBlock.cidr",
        "spec.ingress[0].from[0].ipBlock.except[0]",
        "spec.egress[0].to[1].ipBlock.cidr",
        "spec.egress[0].to[1].ipBlock.except[0]",
    ]


async def test_a_new_ingress_gets_the_default_class() -> None:
    async with environment(KUBERNETES) as env:
        classes, ingresses = env.client.of(IngressClass), env.client.of(Ingress)
        spec = {"controller": "acme.io/ingress"}
        await classes.create({"metadata": {"name": "plain"}, "spec": spec})
        before = await ingresses.create(
            {"metadata": {"name": "before"}, "spec": {"defaultBackend": BACKEND}}
        )
        for name in ("b", "a"):
            meta = {"name": name, "annotations": DEFAULT}
            await classes.create({"metadata": meta, "spec": spec})

        made = {
            name: await ingresses.create(
                {
                    "metadata": {"name": name, "annotations": annotations},
                    "spec": {"defaultBackend": BACKEND, "ingressClassName": chosen},
                }
            )
            for name, chosen, annotations in (
                ("none", None, {}),
                ("own", "plain", {}),
                ("annotated", None, {"kubernetes.io/ingress.class": "old"}),
            )
        }

        assert before.spec.ingress_class_name is None
        # Classes of the same second are ordered by name.
        assert made["none"].spec.ingress_class_name in ("a", "b")
        assert made["own"].spec.ingress_class_name == "plain"
        assert made["annotated"].spec.ingress_class_name is None
