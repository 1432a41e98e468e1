"""Lists without `omitempty` in Kubernetes are null when they are empty."""

import pytest

from apimachinery.model.model import Model
from apis.batch.v1.job import PodFailurePolicy
from apis.core.v1.limit_range import LimitRangeSpec
from apis.flowcontrol.v1.flow_schema import ResourcePolicyRule


@pytest.mark.parametrize(
    ("empty", "name"),
    [
        (LimitRangeSpec(limits=[]), "limits"),
        (PodFailurePolicy(rules=[]), "rules"),
        (ResourcePolicyRule(namespaces=[]), "namespaces"),
    ],
)
def test_an_empty_list_is_null(empty: Model, name: str) -> None:
    encoded = empty.model_dump(by_alias=True, mode="json")

    assert encoded[name] is None
