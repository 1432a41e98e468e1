"""What `kubectl get` shows of the core kinds."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.meta.types import Object, ObjectMeta
from apis.core import v1
from apis.core.install import CORE
from tests.apis.validating import decoded

FIRST = datetime(2030, 1, 1, tzinfo=UTC)
LAST = datetime(2030, 1, 2, tzinfo=UTC)


def row(resource: str, obj: Object, *, wide: bool = False) -> dict[str, Any]:
    columns = next(found.columns for found in CORE.resources if found.name == resource)
    return {c.name: c.cell(obj) for c in columns if wide or not c.priority}


def service(spec: dict[str, Any], status: dict[str, Any] | None = None) -> v1.Service:
    made = decoded(v1.Service, {"spec": spec, "status": status or {}})
    if made.spec.cluster_ip:
        made.spec.cluster_ips = [made.spec.cluster_ip]
    return made


def test_namespaces() -> None:
    namespace = v1.Namespace(status=v1.NamespaceStatus(phase="Active"))

    assert row("namespaces", namespace) == {"Status": "Active"}


def test_config_maps_count_keys_of_both_kinds() -> None:
    config = v1.ConfigMap(data={"a": "", "b": ""}, binary_data={"c": b""})

    assert row("configmaps", config) == {"Data": 3}


def test_secrets() -> None:
    assert row("secrets", v1.Secret(type="Opaque", data={"a": b""})) == {
        "Type": "Opaque",
        "Data": 1,
    }


def test_service_accounts() -> None:
    account = v1.ServiceAccount(secrets=[v1.ObjectReference(name="a")])

    assert row("serviceaccounts", account) == {}


PORTS = [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        (
            {"ports": PORTS, "clusterIP": "10.0.0.1"},
            {},
            ("ClusterIP", "10.0.0.1", "<none>", "80:30080/TCP,53/UDP"),
        ),
        (
            {"externalIPs": ["1.2.3.4", "1.2.3.5"]},
            {},
            ("ClusterIP", "<none>", "1.2.3.4,1.2.3.5", "<none>"),
        ),
        ({"type": "LoadBalancer"}, {}, ("LoadBalancer", "<none>", "<pending>", "<none>")),
        (
            {"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]},
            {"loadBalancer": {"ingress": [{"hostname": "lb.example.io"}, {"ip": "1.1.1.1"}]}},
            ("LoadBalancer", "<none>", "1.1.1.1,lb.example.io,9.9.9.9", "<none>"),
        ),
        (
            {"type": "ExternalName", "externalName": "db.example.io"},
            {},
            ("ExternalName", "<none>", "db.example.io", "<none>"),
        ),
        ({"type": "Odd"}, {}, ("Odd", "<none>", "<unknown>", "<none>")),
    ],
)
def test_services(spec: dict[str, Any], status: dict[str, Any], expected: tuple[str, ...]) -> None:
    shown = row("services", service(spec, status))

    assert list(shown) == ["Type", "Cluster-IP", "External-IP", "Port(s)"]
    assert tuple(shown.values()) == expected


def test_the_selector_of_a_service_is_for_wide_tables() -> None:
    made = service({"selector": {"b": "2", "a": "1"}})

    assert row("services", made, wide=True)["Selector"] == "a=1,b=2"
    assert row("services", service({}), wide=True)["Selector"] == "<none>"


def test_events() -> None:
    event = v1.Event(
        metadata=ObjectMeta(name="a.1"),
        involved_object=v1.ObjectReference(kind="Pod", name="a", field_path="spec.x"),
        type="Normal",
        reason="Started",
        message=" up and running\n",
        source=v1.EventSource(component="kubelet", host="node-1"),
        first_timestamp=FIRST,
        last_timestamp=LAST,
        count=3,
    )

    assert row("events", event) == {
        "Last Seen": LAST,
        "Type": "Normal",
        "Reason": "Started",
        "Object": "pod/a",
        "Message": "up and running",
    }
    assert list(row("events", event, wide=True).items()) == [
        ("Last Seen", LAST),
        ("Type", "Normal"),
        ("Reason", "Started"),
        ("Object", "pod/a"),
        ("Subobject", "spec.x"),
        ("Source", "kubelet, node-1"),
        ("Message", "up and running"),
        ("First Seen", FIRST),
        ("Count", 3),
        ("Name", "a.1"),
    ]


def test_events_of_newer_reporters() -> None:
    event = v1.Event(
        involved_object=v1.ObjectReference(kind="Node"),
        event_time=FIRST,
        reporting_component="example.io/gadgets",
    )

    shown = row("events", event, wide=True)

    assert (shown["First Seen"], shown["Last Seen"], shown["Count"]) == (FIRST, FIRST, 1)
    assert (shown["Object"], shown["Source"]) == ("node", "example.io/gadgets")


def test_a_series_says_when_it_was_last_seen_and_how_often() -> None:
    series = v1.EventSeries(count=7, last_observed_time=LAST)

    shown = row("events", v1.Event(event_time=FIRST, series=series), wide=True)

    assert (shown["Last Seen"], shown["Count"]) == (LAST, 7)
