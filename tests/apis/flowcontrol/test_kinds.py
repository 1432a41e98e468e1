"""FlowSchemas and PriorityLevelConfigurations as documents, and as `kubectl get` shows them."""

from typing import Any

import orjson
import pytest

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersion
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from apimachinery.serialization.serializer import write_yaml
from apis.flowcontrol import GROUP
from apis.flowcontrol.bootstrap import (
    mandatory_levels,
    mandatory_schemas,
    suggested_levels,
    suggested_schemas,
)
from apis.flowcontrol.install import FLOWCONTROL
from apis.flowcontrol.v1 import FlowSchema, PriorityLevelConfiguration
from tests.apis.groups import full_scheme
from tests.apis.validating import decoded

V1 = GroupVersion(GROUP, "v1")
CODEC = Codec(full_scheme())
MINIMAL_SCHEMA = {
    "apiVersion": str(V1),
    "kind": "FlowSchema",
    "metadata": {"name": "team"},
    "spec": {"priorityLevelConfiguration": {"name": "team"}},
}
FULL_LEVEL = {
    "apiVersion": str(V1),
    "kind": "PriorityLevelConfiguration",
    "metadata": {"name": "team"},
    "spec": {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 0,
            "limitResponse": {
                "type": "Queue",
                "queuing": {"queues": 16, "handSize": 4, "queueLengthLimit": 10},
            },
            "lendablePercent": 50,
            "borrowingLimitPercent": 0,
        },
    },
    "status": {"conditions": [{"type": "Odd", "status": "True", "lastTransitionTime": None}]},
}
BOOTSTRAP = [
    *(mandatory_schemas() + suggested_schemas()),
    *(mandatory_levels() + suggested_levels()),
]


def test_a_minimal_schema_gets_its_precedence() -> None:
    spec = decoded(FlowSchema, MINIMAL_SCHEMA).spec

    assert (spec.matching_precedence, spec.distinguisher_method, spec.rules) == (1000, None, [])


def test_a_minimal_level_gets_its_shares_and_queues() -> None:
    document = FULL_LEVEL | {
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}
    }

    limited = decoded(PriorityLevelConfiguration, document).spec.limited

    assert limited is not None
    assert (limited.nominal_concurrency_shares, limited.lendable_percent) == (30, 0)
    assert limited.borrowing_limit_percent is None
    queuing = limited.limit_response.queuing
    assert queuing is not None
    assert (queuing.queues, queuing.hand_size, queuing.queue_length_limit) == (64, 8, 50)


def test_a_full_level_keeps_its_zeros() -> None:
    read = decoded(PriorityLevelConfiguration, FULL_LEVEL)

    written = orjson.loads(CODEC.encode(read, V1))

    assert written["spec"] == FULL_LEVEL["spec"]
    assert written["status"] == FULL_LEVEL["status"]


@pytest.mark.parametrize("obj", BOOTSTRAP, ids=lambda obj: f"{obj.__kind__}-{obj.metadata.name}")
def test_bootstrap_objects_are_the_same_in_json_yaml_and_protobuf(obj: Object) -> None:
    json = CODEC.encode(obj, V1)
    documents = {JSON: json, YAML: write_yaml(json)}
    documents[PROTOBUF] = CODEC.encode(obj, V1, media_type=PROTOBUF)

    for media_type, data in documents.items():
        read: Any = CODEC.decode_internal(data, media_type=media_type).object
        assert read.spec == obj.spec  # type: ignore[attr-defined]
        assert read.metadata == obj.metadata


def test_bootstrap_objects_are_those_of_kubernetes() -> None:
    precedences = {
        schema.metadata.name: (
            schema.spec.matching_precedence,
            schema.spec.priority_level_configuration.name,
        )
        for schema in (*mandatory_schemas(), *suggested_schemas())
    }

    assert precedences == {
        "exempt": (1, "exempt"),
        "probes": (2, "exempt"),
        "system-leader-election": (100, "leader-election"),
        "system-node-high": (400, "node-high"),
        "system-nodes": (500, "system"),
        "kube-controller-manager": (800, "workload-high"),
        "kube-scheduler": (800, "workload-high"),
        "kube-system-service-accounts": (900, "workload-high"),
        "service-accounts": (9000, "workload-low"),
        "global-default": (9900, "global-default"),
        "catch-all": (10000, "catch-all"),
    }


def test_columns_of_schemas() -> None:
    columns = FLOWCONTROL.resources[0].columns
    schema = suggested_schemas()[1]

    assert {column.name: column.cell(schema) for column in columns if column.name != "Age"} == {
        "Name": "system-leader-election",
        "PriorityLevel": "leader-election",
        "MatchingPrecedence": 100,
        "DistinguisherMethod": "ByUser",
        "MissingPL": "?",
    }


def test_columns_of_levels() -> None:
    columns = FLOWCONTROL.resources[1].columns
    catch_all, exempt = mandatory_levels()
    system = suggested_levels()[0]

    def cells(level: PriorityLevelConfiguration) -> list[Any]:
        return [column.cell(level) for column in columns]

    none = "<none>"
    assert cells(system) == ["Limited", 30, 64, 6, 50]
    assert cells(catch_all) == ["Limited", 5, none, none, none]
    assert cells(exempt) == ["Exempt", none, none, none, none]
