"""Documents with mistakes, and exactly what is said about them.

Each group has a file of them, `mistakes.yaml`, with Kubernetes' own answers. The order of the
errors of one document is not part of the contract.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from apiserver.group import Resource
from apiserver.registry.status import drop_status, keep_status
from tests.apis.groups import GROUPS
from tests.apis.validating import decoded, messages

FILES = sorted(Path(__file__).parent.glob("*/mistakes.yaml"))


def cases() -> Iterator[Any]:
    for file in FILES:
        table = yaml.safe_load(file.read_text())
        group = next(group for group in GROUPS if group.name == table["group"])
        resources = {resource.kind: resource for resource in group.resources}
        for number, case in enumerate(table["cases"], 1):
            name = f"{file.parent.name}-{case['kind']}-{number}"
            yield pytest.param(resources[case["kind"]], case, id=name)


def found_errors(resource: Resource, case: dict[str, Any]) -> list[str]:
    """Return what the strategy of a resource says about a case."""
    strategy, new = resource.strategy, decoded(resource.cls, named(case["document"]))
    if "old" not in case:
        if resource.has_status:
            drop_status(new)
        strategy.prepare_for_create(new)
        return messages(strategy.validate(new))
    old = decoded(resource.cls, named(case["old"]))
    if case.get("subresource") == "status":
        return messages(strategy.validate_status_update(new, old))
    if resource.has_status:
        keep_status(new, old)
    strategy.prepare_for_update(new, old)
    return messages(strategy.validate_update(new, old))


def named(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "metadata": {"name": "a", **document.get("metadata", {})}}


@pytest.mark.parametrize(("resource", "case"), list(cases()))
def test_every_mistake_is_reported(resource: Resource, case: dict[str, Any]) -> None:
    assert sorted(found_errors(resource, case)) == sorted(case["errors"])
