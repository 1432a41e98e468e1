"""Rules: which operations and resources match, and in which version."""

from collections.abc import Sequence

import pytest

from apimachinery.schema import GroupVersionResource
from apis.admissionregistration.matching.rules import (
    Target,
    compile_rule,
    find_match,
    is_exempt,
)
from apis.admissionregistration.v1 import NamedRuleWithOperations, RuleWithOperations
from apiserver.served_versions import ServedVersion

PODS = GroupVersionResource("", "v1", "pods")
V1 = GroupVersionResource("apps.example.io", "v1", "lamps")
BETA = GroupVersionResource("apps.example.io", "v1beta1", "lamps")


def rule(**fields: object) -> RuleWithOperations:
    """A rule for every write of every resource, but for *fields*."""
    everything = {
        "operations": ["*"],
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": ["*/*"],
    }
    return RuleWithOperations.model_validate({**everything, **fields})


def target(
    resource: GroupVersionResource = PODS,
    subresource: str = "",
    *,
    operation: str = "CREATE",
    namespaced: bool = True,
) -> Target:
    return Target(operation, resource, subresource, namespaced)


def served(resource: GroupVersionResource) -> ServedVersion:
    return ServedVersion(resource, resource.group_version.with_kind("Lamp"))


@pytest.mark.parametrize(
    ("resources", "matching"),
    [
        (["pods"], ["pods"]),
        (["pods/log"], ["pods/log"]),
        (["pods/*"], ["pods", "pods/log", "pods/scale"]),
        (["*/scale"], ["pods/scale", "lamps/scale"]),
        (["*"], ["pods", "lamps"]),
        (["*/*"], ["pods", "pods/log", "pods/scale", "lamps", "lamps/scale"]),
        (["lamps", "pods/log"], ["pods/log", "lamps"]),
    ],
)
def test_resources_and_subresources(resources: list[str], matching: list[str]) -> None:
    compiled = compile_rule(rule(resources=resources))

    found = []
    for text in ("pods", "pods/log", "pods/scale", "lamps", "lamps/scale"):
        name, _, subresource = text.partition("/")
        wanted = target(GroupVersionResource("", "v1", name), subresource)
        if compiled.matches(wanted, wanted.resource):
            found.append(text)

    assert found == matching


@pytest.mark.parametrize(
    ("fields", "matches"),
    [
        ({"operations": ["CREATE", "UPDATE"]}, True),
        ({"operations": ["DELETE"]}, False),
        ({"apiGroups": [""]}, True),
        ({"apiGroups": ["apps"]}, False),
        ({"apiVersions": ["v1", "v2"]}, True),
        ({"apiVersions": ["v2"]}, False),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
        ({"scope": "*"}, True),
    ],
)
def test_each_field_must_match(fields: dict[str, object], matches: bool) -> None:
    assert compile_rule(rule(**fields)).matches(target(), PODS) is matches


def test_cluster_scope_is_for_objects_without_namespace() -> None:
    cluster = target(namespaced=False)

    assert compile_rule(rule(scope="Cluster")).matches(cluster, PODS)
    assert not compile_rule(rule(scope="Namespaced")).matches(cluster, PODS)


def test_rules_of_policies_have_names() -> None:
    named = NamedRuleWithOperations.model_validate(
        {**rule().model_dump(by_alias=True), "resourceNames": ["a", "b"]}
    )

    compiled = compile_rule(named)

    assert compiled.has_name("a")
    assert not compiled.has_name("c")
    assert compile_rule(rule()).has_name("anything")


def match(rules: Sequence[RuleWithOperations], policy: str) -> GroupVersionResource | None:
    found = find_match(
        [compile_rule(each) for each in rules],
        target(V1),
        served(V1),
        match_policy=policy,
        equivalents=lambda: (served(V1), served(BETA)),
    )
    return found.resource if found else None


def test_exact_rules_match_only_the_version_of_the_request() -> None:
    assert match([rule(apiVersions=["v1beta1"])], "Exact") is None
    assert match([rule(apiVersions=["v1"])], "Exact") == V1


def test_equivalent_rules_match_in_the_version_that_they_name() -> None:
    assert match([rule(apiVersions=["v1beta1"])], "Equivalent") == BETA
    assert match([rule(apiVersions=["v2"])], "Equivalent") is None


def test_the_version_of_the_request_is_preferred() -> None:
    rules = [rule(apiVersions=["v1beta1"]), rule(apiVersions=["v1"])]

    assert match(rules, "Equivalent") == V1


def test_configurations_of_admission_and_reviews_are_exempt() -> None:
    own = GroupVersionResource("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies")
    review = GroupVersionResource("authentication.k8s.io", "v1", "tokenreviews")

    assert is_exempt(own)
    assert is_exempt(review)
    assert not is_exempt(PODS)
