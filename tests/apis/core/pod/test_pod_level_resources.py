"""Resources of pods as a whole, completed like kube-apiserver completes them."""

from typing import Any

import orjson
import pytest

from apimachinery.codec import dump_json
from apimachinery.model.decoding import decode_json
from apis.core.strategy.pod_level_resources import complete_pod_resources, keep_omitted_resources
from apis.core.v1.pod import PodSpec

SMALL = {"requests": {"cpu": "100m"}}
LIMITED = {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m", "memory": "1Gi"}}


def spec(resources: Any, *containers: Any, **fields: Any) -> PodSpec:
    """Return a spec with resources of its own and those of its containers."""
    listed = [
        {"name": f"c{position}", "image": "i", "resources": each}
        for position, each in enumerate(containers)
    ]
    document = {"resources": resources, "containers": listed, **fields}
    return decode_json(PodSpec, orjson.dumps(document), find_unknown=False).object


def completed(resources: Any, *containers: Any, **fields: Any) -> Any:
    found = spec(resources, *containers, **fields)
    complete_pod_resources(found)
    return orjson.loads(dump_json(found)).get("resources")


def test_limits_of_the_pod_complete_its_requests() -> None:
    large = {"requests": {"cpu": "500m"}, "limits": {"hugepages-2Mi": "4Mi"}}
    init = [
        {"name": "s", "image": "s", "resources": SMALL, "restartPolicy": "Always"},
        {"name": "i", "image": "i", "resources": large},
    ]

    found = completed({"limits": {"cpu": "1", "memory": "1Gi"}}, SMALL, SMALL, initContainers=init)

    assert found == {
        "limits": {"cpu": "1", "hugepages-2Mi": "4Mi", "memory": "1Gi"},
        "requests": {"cpu": "600m", "hugepages-2Mi": "4Mi", "memory": "1Gi"},
    }


@pytest.mark.parametrize(("requested", "limit"), [("150m", "400m"), ("1", "1")])
def test_what_each_container_limits_the_pod_limits(requested: str, limit: str) -> None:
    """Its limit is the sum of theirs, or its request if that is larger."""
    found = completed({"requests": {"cpu": requested}}, LIMITED, LIMITED)

    assert found == {"requests": {"cpu": requested}, "limits": {"cpu": limit}}


def test_a_container_without_a_limit_leaves_the_pod_unlimited() -> None:
    assert completed({"requests": {"cpu": "1"}}, LIMITED, SMALL) == {"requests": {"cpu": "1"}}


@pytest.mark.parametrize("resources", [None, {}])
def test_a_pod_without_resources_gets_none(resources: Any) -> None:
    assert completed(resources, LIMITED) == resources


def test_a_client_that_omits_the_resources_keeps_them() -> None:
    new, old = spec(None, SMALL), spec({"limits": {"cpu": "1"}}, SMALL)

    keep_omitted_resources(new, old)

    assert new.resources == old.resources
    assert new.resources is not old.resources
