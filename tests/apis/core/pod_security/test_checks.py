"""Every check says about every pod what Kubernetes says."""

import json
from typing import Any

import pytest

from apimachinery.model.decoding import decode_json
from apis.core.pod_security.checks import CHECKS, NEWEST, violations
from apis.core.pod_security.levels import LevelVersion, PolicyVersion, parse_level, parse_version
from apis.core.pod_security.violation import PodToCheck
from apis.core.strategy.pod import PodStrategy
from apis.core.v1 import Pod
from tests.apis.core.pod_security.pods import expectations, pods


def prepared(document: dict[str, Any]) -> Pod:
    """Return a pod as it is when the checks see it: annotations have become fields."""
    pod = decode_json(Pod, json.dumps(document)).object
    PodStrategy().prepare_for_create(pod)
    return pod


PODS = {name: prepared(document) for name, document in pods().items()}


@pytest.mark.parametrize(("name", "demand", "expected"), list(expectations()))
def test_pods_are_refused_in_the_words_of_kubernetes(name: str, demand: str, expected: str) -> None:
    level, version = demand.split(":")
    pod = PODS[name]

    found = violations(
        LevelVersion(parse_level(level), parse_version(version)),
        PodToCheck(pod.spec, pod.metadata.annotations),
    )

    assert ", ".join(map(str, found)) == expected


def test_every_pod_is_recorded() -> None:
    assert {name for name, _, _ in expectations()} == set(PODS)


def test_later_versions_are_the_newest() -> None:
    assert max(minor for check in CHECKS.values() for minor in check.versions) == NEWEST
    pod = PODS["sysctls"]
    subject = PodToCheck(pod.spec, pod.metadata.annotations)
    level = parse_level("baseline")

    assert violations(LevelVersion(level, PolicyVersion(10**17)), subject) == violations(
        LevelVersion(level), subject
    )
