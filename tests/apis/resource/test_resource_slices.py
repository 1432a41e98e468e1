"""ResourceSlices and DeviceTaintRules: pools, devices, capacities and taints."""

from typing import Any

import pytest

from apis.resource.printers import RESOURCE_SLICE_COLUMNS
from apis.resource.register import slice_field
from apis.resource.strategy import DeviceTaintRuleStrategy, ResourceSliceStrategy
from apis.resource.v1 import DeviceTaintRule, ResourceSlice
from tests.apis.validating import decoded, messages

STRATEGY = ResourceSliceStrategy()
RULES = DeviceTaintRuleStrategy()
SPEC = {
    "driver": "gpu.example.com",
    "pool": {"name": "node-1", "resourceSliceCount": 1},
    "nodeName": "node-1",
}
ADDED = "2026-01-01T00:00:00Z"
TAINT = {"key": "broken", "effect": "NoSchedule", "timeAdded": ADDED}
PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
    " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
VALUES = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
VERSION = "must be a string compatible with semver.org spec 2.0.0"
BINDING = "bindingFailureConditions must not overlap with bindingConditions"


def read(**changes: Any) -> ResourceSlice:
    spec = {name: value for name, value in {**SPEC, **changes}.items() if value is not None}
    return decoded(ResourceSlice, {"metadata": {"name": "s"}, "spec": spec})


def device(**fields: Any) -> ResourceSlice:
    return read(devices=[{"name": "gpu-0", **fields}])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"driver": ""}, [".driver: Required value"]),
        (
            {"pool": {"generation": -1}},
            [
                ".pool.name: Required value",
                ".pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                ".pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
        ),
        ({"nodeName": None}, [f": Required value: {PLACES}"]),
        (
            {"allNodes": True},
            [
                f': Invalid value: "{{`nodeName`, `allNodes`}}": {PLACES}, but multiple fields are'
                " set"
            ],
        ),
        (
            {"nodeName": "", "allNodes": False},
            [
                '.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
                ".allNodes: Invalid value: false: must be either unset or set to true",
                f": Required value: {PLACES}",
            ],
        ),
        (
            {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": [{}, {}]}},
            [
                '.nodeSelector.nodeSelectorTerms: Invalid value: [{"MatchExpressions":null,'
                '"MatchFields":null},{"MatchExpressions":null,"MatchFields":null}]: must have'
                " exactly one node selector term"
            ],
        ),
        (
            {"devices": [{"name": f"d{i}"} for i in range(129)]},
            [".devices: Too many: 129: must have at most 128 items"],
        ),
        (
            {"devices": [{"name": f"d{i}", "taints": [TAINT]} for i in range(65)]},
            [".devices: Too many: 65: must have at most 64 items"],
        ),
        ({"devices": [{"name": "a"}] * 2}, ['.devices[1]: Duplicate value: "a"']),
        (
            {"devices": [{"name": "a"}], "sharedCounters": [{"name": "c"}]},
            [
                ': Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
                ".sharedCounters[0].counters: Required value",
            ],
        ),
    ],
)
def test_rules(changes: dict[str, Any], expected: list[str]) -> None:
    assert messages(STRATEGY.validate(read(**changes))) == [f"spec{text}" for text in expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {
                "attributes": {
                    "model": {"string": "a1"},
                    "example.com/version": {"version": "1.0.0-rc.1+build"},
                },
                "capacity": {"memory": {"value": "80Gi"}},
                "taints": [TAINT],
            },
            [],
        ),
        (
            {"attributes": {"a": {}, "b": {"int": 1, "bool": True}}},
            [
                f'.attributes[a]: Invalid value: "": must specify one of: {VALUES}',
                f'.attributes[b]: Invalid value: "{{int, bool}}": must specify exactly one of:'
                f" {VALUES}",
            ],
        ),
        (
            {"attributes": {"a": {"version": "1.0"}, "b": {"string": "x" * 65}}},
            [
                f'.attributes[a].version: Invalid value: "1.0": {VERSION}',
                ".attributes[b].string: Too long: may not be more than 64 bytes",
            ],
        ),
        (
            {"attributes": {"/a": {"int": 1}}},
            ['.attributes: Invalid value: "": the domain must not be empty'],
        ),
        (
            {"attributes": {f"a{i}": {"int": 1} for i in range(33)}},
            [
                ": Invalid value: 33: the total number of attributes and capacities must not"
                " exceed 32"
            ],
        ),
        (
            {"taints": [{"effect": "Evict", "key": "a"}]},
            [
                '.taints[0].effect: Unsupported value: "Evict": supported values: "NoExecute",'
                ' "NoSchedule", "None"'
            ],
        ),
        (
            {"consumesCounters": [{"counterSet": f"c{i}", "counters": {}} for i in range(2)]},
            [
                ".consumesCounters[0].counters: Required value",
                ".consumesCounters[1].counters: Required value",
            ],
        ),
        (
            {"bindingConditions": ["a"], "bindingFailureConditions": ["a"]},
            [f'.bindingFailureConditions[0]: Invalid value: "a": {BINDING}'],
        ),
        (
            {"bindingConditions": ["a"]},
            [
                ".bindingFailureConditions: Invalid value: null: bindingFailureConditions are"
                " required to use bindingConditions"
            ],
        ),
        (
            {"nodeName": "node-1"},
            [
                ": Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set"
                " if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
            ],
        ),
        (
            {"capacity": {"memory": {"value": "1", "requestPolicy": {}}}},
            [".capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true"],
        ),
    ],
)
def test_rules_of_devices(fields: dict[str, Any], expected: list[str]) -> None:
    assert messages(STRATEGY.validate(device(**fields))) == [
        f"spec.devices[0]{text}" for text in expected
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"nodeName": "node-1"}, []),
        ({}, [f": Required value: {DEVICE_PLACES}"]),
        (
            {"nodeName": "", "allNodes": False},
            [
                '.nodeName: Invalid value: "": must not be empty',
                ".allNodes: Invalid value: false: must be either unset or set to true",
                f": Required value: {DEVICE_PLACES}",
            ],
        ),
        (
            {"nodeName": "node-1", "allNodes": True},
            [f': Invalid value: "{{`nodeName`, `allNodes`}}": {DEVICE_PLACES}'],
        ),
    ],
)
def test_devices_may_name_their_nodes(fields: dict[str, Any], expected: list[str]) -> None:
    obj = read(nodeName=None, perDeviceNodeSelection=True, devices=[{"name": "a", **fields}])

    assert messages(STRATEGY.validate(obj)) == [f"spec.devices[0]{text}" for text in expected]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"default": "2", "validValues": ["1", "2"]}, []),
        ({"default": "3", "validRange": {"min": "1", "max": "9", "step": "2"}}, []),
        (
            {"validValues": ["1"], "validRange": {"min": "1"}},
            [
                ': Forbidden: exactly one policy can be specified, cannot specify "validValues" and'
                ' "validRange" at the same time'
            ],
        ),
        (
            {"validValues": ["1"]},
            [".default: Required value: required when validValues is defined"],
        ),
        (
            {"default": "3", "validValues": ["2", "1", "11"]},
            [
                '.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
                '.validValues[2]: Invalid value: "11": option is larger than capacity value: 10',
                '.validValues: Invalid value: "3": default value is not valid according to the'
                " requestPolicy",
            ],
        ),
        (
            {"default": "1", "validRange": {}},
            [".validRange.min: Required value: required when validRange is defined"],
        ),
        (
            {"default": "0", "validRange": {"min": "1", "max": "11", "step": "3"}},
            [
                '.validRange.default: Invalid value: "0": default is less than min: 1',
                '.validRange.max: Invalid value: "11": max is larger than capacity value: 10',
                '.validRange.step: Invalid value: "0": value is not a multiple of a given step (3)'
                " from (1)",
                '.validRange.step: Invalid value: "11": value is not a multiple of a given step (3)'
                " from (1)",
            ],
        ),
    ],
)
def test_rules_of_consumable_capacity(policy: dict[str, Any], expected: list[str]) -> None:
    capacity = {"memory": {"value": "10", "requestPolicy": policy}}

    errors = STRATEGY.validate(device(allowMultipleAllocations=True, capacity=capacity))

    path = "spec.devices[0].capacity[memory].requestPolicy"
    assert messages(errors) == [f"{path}{text}" for text in expected]


def test_a_slice_stays_with_its_driver_and_node() -> None:
    changed = read(driver="nic.example.com", nodeName=None, allNodes=True)

    assert messages(STRATEGY.validate_update(changed, read())) == [
        'spec.driver: Invalid value: "nic.example.com": field is immutable',
        "spec.nodeName: Invalid value: null: field is immutable",
    ]


def test_fields_of_features_that_are_off_are_dropped() -> None:
    obj = device(attributes={"a": {"ints": [1]}}, taints=[{"key": "a", "effect": "NoExecute"}])
    obj.spec.partition_type_attribute = "a.b/c"

    STRATEGY.prepare_for_create(obj)

    assert obj.spec.devices[0].attributes["a"].ints == []
    assert obj.spec.partition_type_attribute is None
    assert obj.spec.devices[0].taints[0].time_added is not None


def test_upper_case_drivers_are_warned_about() -> None:
    assert list(STRATEGY.warnings(read(driver="GPU.example.com"))) == [
        'spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase'
        " characters"
    ]
    assert list(STRATEGY.warnings(read())) == []


def test_columns_and_field_labels() -> None:
    assert [column.cell(read()) for column in RESOURCE_SLICE_COLUMNS] == [
        "node-1",
        "gpu.example.com",
        "node-1",
    ]
    assert slice_field("spec.driver", "x") == ("spec.driver", "x")
    with pytest.raises(ValueError, match=r"field label not supported for .*: spec\.x"):
        slice_field("spec.x", "x")


def rule(**spec: Any) -> DeviceTaintRule:
    return decoded(DeviceTaintRule, {"metadata": {"name": "r"}, "spec": {"taint": TAINT, **spec}})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"deviceSelector": {"driver": "gpu.example.com"}}, []),
        (
            {"deviceSelector": {"driver": "", "pool": ""}},
            [
                "spec.deviceSelector.driver: Required value",
                "spec.deviceSelector.pool: Required value",
            ],
        ),
        ({"taint": {"key": "a"}}, ["spec.taint.effect: Required value"]),
    ],
)
def test_rules_of_taint_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(RULES.validate(rule(**spec))) == expected


def test_the_time_of_a_taint_is_that_of_its_effect() -> None:
    changed, same = rule(taint={**TAINT, "effect": "NoExecute"}), rule()
    RULES.prepare_for_update(changed, rule())
    RULES.prepare_for_update(same, rule())

    assert changed.spec.taint.time_added != rule().spec.taint.time_added
    assert same.spec.taint.time_added == rule().spec.taint.time_added
    assert messages(RULES.validate_update(changed, rule())) == []
