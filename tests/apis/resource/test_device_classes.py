"""DeviceClasses: selectors, configuration, and what an update may keep."""

from typing import Any

import pytest

from apis.resource.strategy import DeviceClassStrategy
from apis.resource.v1 import DeviceClass
from tests.apis.validating import decoded, messages

STRATEGY = DeviceClassStrategy()
TOO_COMPLEX = "too complex, exceeds cost limit"


def read(**spec: Any) -> DeviceClass:
    return decoded(DeviceClass, {"metadata": {"name": "gpus"}, "spec": spec})


def selecting(text: str) -> DeviceClass:
    return read(selectors=[{"cel": {"expression": text}}])


@pytest.mark.parametrize(
    "text",
    [
        "device.driver == 'gpu.example.com'",
        "device.attributes['gpu.example.com'].ready",
        "device.attributes['gpu.example.com'].model in ['a1', 'a2']",
        "device.attributes['gpu.example.com'].driverVersion.isLessThan(semver('1.0.0'))",
        "device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) >= 0",
        "device.allowMultipleAllocations",
        "cel.bind(gpu, device.attributes['gpu.example.com'], gpu.a && gpu.b)",
    ],
)
def test_selectors(text: str) -> None:
    assert messages(STRATEGY.validate(selecting(text))) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("1", "must evaluate to bool or the unknown type, not int"),
        (
            "device.vendor == 'a'",
            "compilation failed: ERROR: <input>:1:7: undefined field 'vendor'"
            "\n | device.vendor == 'a'\n | ......^",
        ),
        (
            "object.x",
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'object'"
            " (in container '')\n | object.x\n | ^",
        ),
        (
            "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c,"
            " device.attributes.all(d, a + b + c + d == 'x'))))",
            TOO_COMPLEX,
        ),
    ],
)
def test_selectors_that_are_refused(text: str, problem: str) -> None:
    (error,) = STRATEGY.validate(selecting(text))

    assert (error.field, error.detail) == ("spec.selectors[0].cel.expression", problem)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"extendedResourceName": "example.com/gpu"}, []),
        ({"selectors": [{}]}, ["spec.selectors[0].cel: Required value"]),
        (
            {"selectors": [{"cel": {"expression": "true"}}] * 33},
            ["spec.selectors: Too many: 33: must have at most 32 items"],
        ),
        (
            {"selectors": [{"cel": {"expression": f"'{'x' * 10240}' == ''"}}]},
            ["spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"],
        ),
        (
            {"config": [{}, {"opaque": {}}]},
            [
                "spec.config[0].opaque: Required value",
                "spec.config[1].opaque.driver: Required value",
                "spec.config[1].opaque.parameters: Required value",
            ],
        ),
        (
            {"config": [{"opaque": {"driver": "a", "parameters": {"a": "x" * 10240}}}]},
            ["spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes"],
        ),
        (
            {"extendedResourceName": "gpu"},
            [
                'spec.extendedResourceName: Invalid value: "gpu": a name must be a domain-prefixed'
                " path, such as 'example.com/my-prop'"
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(STRATEGY.validate(read(**spec))) == expected


def test_an_update_validates_what_it_changes() -> None:
    stored = selecting("1")

    assert messages(STRATEGY.validate_update(selecting("1"), stored)) == []
    assert messages(STRATEGY.validate_update(selecting("2"), stored)) != []
