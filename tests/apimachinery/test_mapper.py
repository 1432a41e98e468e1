"""Names given in part are resolved to what is served, or refused with the candidates."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.mapper import (
    ANY,
    AmbiguousKind,
    AmbiguousResource,
    AmbiguousSingular,
    DefaultMapper,
    Mapping,
    NoKindMatch,
    NoMatch,
    NoResourceMatch,
    PriorityMapper,
    ResourceMissing,
    ShortNameMapper,
    mapper_for,
)
from apimachinery.resources import (
    MalformedDiscovery,
    Scope,
    ServedResource,
    from_aggregated_discovery,
    from_discovery,
    guess_plural,
    guess_singular,
)
from apimachinery.schema import (
    INTERNAL,
    GroupKind,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)


def served(version: str, kind: str, **more: Any) -> ServedResource:
    gvk = GroupVersionKind.from_api_version(version, kind)
    return ServedResource(gvk, guess_plural(kind), guess_singular(kind), **more)


def resource(text: str) -> GroupVersionResource:
    """Read `group/version/resource`, in which each part may be empty."""
    return GroupVersionResource(*text.split("/"))


PODS = served("v1", "Pod", short_names=("po",), categories=("all",))
NODES = served("v1", "Node", scope=Scope.CLUSTER, short_names=("no",))
CORE_EVENTS = served("v1", "Event", short_names=("ev",))
EVENTS = served("events.k8s.io/v1", "Event", short_names=("ev",))
DEPLOYMENTS = served("apps/v1", "Deployment", short_names=("deploy",), categories=("all",))
OLD_DEPLOYMENTS = served("apps/v1beta1", "Deployment", short_names=("deploy",), categories=("all",))
INGRESSES = served("networking.k8s.io/v1", "Ingress")
METRICS = served("metrics.k8s.io/v1beta1", "PodMetrics")
POD_METRICS = ServedResource(
    METRICS.kind, "pods", "", Scope.NAMESPACED
)  # as metrics-server does: a second "pods", without a singular name

ALL = (PODS, NODES, CORE_EVENTS, DEPLOYMENTS, OLD_DEPLOYMENTS, EVENTS, INGRESSES, POD_METRICS)


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Pod", "pods"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("Endpoints", "endpoints"),
        ("MyEndpoints", "myendpoints"),
        ("Gateway", "gatewaies"),
        ("Y", "ies"),
        ("", ""),
    ],
)
def test_plurals_are_guessed_by_the_convention(kind: str, plural: str) -> None:
    assert guess_plural(kind) == plural


@pytest.mark.parametrize(
    ("partial", "expected"),
    [
        ("apps/v1/deployments", ["apps/v1/deployments"]),
        ("apps/v1/Deployment", ["apps/v1/deployments"]),
        ("apps//deployments", ["apps/v1/deployments", "apps/v1beta1/deployments"]),
        ("/v1beta1/deployment", ["apps/v1beta1/deployments"]),
        ("//DEPLOYMENTS", ["apps/v1/deployments", "apps/v1beta1/deployments"]),
        (f"apps/{INTERNAL}/deployments", ["apps/v1/deployments", "apps/v1beta1/deployments"]),
        ("networking//ingresses", ["networking.k8s.io/v1/ingresses"]),
        ("events//events", ["events.k8s.io/v1/events"]),
    ],
)
def test_resources_are_found_by_part_of_their_name(partial: str, expected: list[str]) -> None:
    mapper = DefaultMapper(ALL)

    assert mapper.resources_for(resource(partial)) == list(map(resource, expected))


def test_a_group_that_matches_exactly_hides_those_it_is_a_prefix_of() -> None:
    mapper = DefaultMapper([served("a/v1", "Thing"), served("ab/v1", "Thing")])

    assert mapper.resources_for(resource("a//things")) == [resource("a/v1/things")]


@pytest.mark.parametrize("partial", ["networking/v1/ingresses", "//nothing", "apps/v2/deployments"])
def test_what_is_not_served_has_no_match(partial: str) -> None:
    mapper = DefaultMapper(ALL)

    with pytest.raises(NoResourceMatch) as caught:
        mapper.resources_for(resource(partial))
    with pytest.raises(NoMatch):
        mapper.kinds_for(resource(partial))

    assert str(caught.value) == f"no matches for {resource(partial)}"


def test_the_message_names_resource_group_and_version() -> None:
    assert str(NoResourceMatch(resource("g/v/x"))) == "no matches for g/v, Resource=x"


def test_a_question_without_a_resource_is_refused() -> None:
    with pytest.raises(ResourceMissing, match=r"a resource must be present, got: apps/v1, Reso"):
        DefaultMapper(ALL).kind_for(resource("apps/v1/"))


def test_one_answer_is_given_and_several_are_listed() -> None:
    mapper = DefaultMapper(ALL)

    assert mapper.kind_for(resource("//ingress")) == INGRESSES.kind
    assert mapper.resource_for(resource("//ingress")) == INGRESSES.resource
    with pytest.raises(AmbiguousResource) as caught:
        mapper.resource_for(resource("//event"))
    assert str(caught.value) == (
        "/, Resource=event matches multiple resources "
        "[/v1, Resource=events events.k8s.io/v1, Resource=events]"
    )
    assert caught.value.candidates == (CORE_EVENTS.resource, EVENTS.resource)
    with pytest.raises(AmbiguousResource, match=r"matches multiple kinds \[/v1, Kind=Event even"):
        mapper.kind_for(resource("//event"))


def test_the_last_resource_of_a_name_wins() -> None:
    mapper = DefaultMapper([PODS])

    mapper.add(ServedResource(PODS.kind, "pods", "podling"))

    assert mapper.resource_singularizer("pods") == "podling"
    with pytest.raises(NoResourceMatch):
        mapper.resources_for(resource("//pod"))


def test_a_kind_is_mapped_in_the_first_version_asked_for_that_has_it() -> None:
    mapper = DefaultMapper(ALL)
    kind = GroupKind("apps", "Deployment")

    mapping = mapper.mapping(kind, "v2", "v1beta1", "v1")

    assert mapping == Mapping(OLD_DEPLOYMENTS.resource, OLD_DEPLOYMENTS.kind, Scope.NAMESPACED)
    assert mapper.mapping(kind, "", INTERNAL).kind.version == "v1"
    assert mapper.mapping(GroupKind("", "Node")).scope is Scope.CLUSTER


def test_default_versions_come_before_the_order_of_versions() -> None:
    mapper = DefaultMapper(ALL, [GroupVersion("apps", "v1beta1")])

    found = mapper.mappings(GroupKind("apps", "Deployment"))

    assert [each.kind.version for each in found] == ["v1beta1", "v1"]
    assert mapper.resources_for(resource("//deployments"))[0] == OLD_DEPLOYMENTS.resource


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ((), 'no matches for kind "X" in group "g"'),
        (("v",), 'no matches for kind "X" in version "g/v"'),
        (("v2", "v1"), 'no matches for kind "X" in versions ["g/v1" "g/v2"]'),
    ],
)
def test_a_kind_that_is_not_served_has_no_match(versions: tuple[str, ...], text: str) -> None:
    with pytest.raises(NoKindMatch) as caught:
        DefaultMapper(ALL).mapping(GroupKind("g", "X"), *versions)

    assert str(caught.value) == text


def test_singular_names_are_told_unless_groups_disagree() -> None:
    mapper = DefaultMapper([*ALL, ServedResource(NODES.kind, "gizmos", "gizmo")])

    assert mapper.resource_singularizer("deployments") == "deployment"
    assert mapper.resource_singularizer("gizmos") == "gizmo"
    with pytest.raises(AmbiguousSingular, match="found for pods"):
        mapper.resource_singularizer("pods")
    with pytest.raises(NoResourceMatch):
        mapper.resource_singularizer("nothing")


def test_priority_narrows_pattern_by_pattern() -> None:
    patterns = [
        GroupVersion("none", ANY),
        GroupVersion("apps", ANY),
        GroupVersion(ANY, "v1beta1"),
    ]
    mapper = PriorityMapper(DefaultMapper(ALL), patterns)

    assert mapper.resource_for(resource("//deployments")) == OLD_DEPLOYMENTS.resource
    assert mapper.kind_for(resource("//deployments")) == OLD_DEPLOYMENTS.kind
    assert mapper.mapping(GroupKind("apps", "Deployment")).kind == OLD_DEPLOYMENTS.kind
    assert mapper.mapping(GroupKind("apps", "Deployment"), "v1").kind == DEPLOYMENTS.kind
    assert len(mapper.resources_for(resource("//deployments"))) == 2
    assert mapper.resource_singularizer("deployments") == "deployment"


def test_priority_that_does_not_decide_lists_all_candidates() -> None:
    mapper = PriorityMapper(DefaultMapper(ALL), [GroupVersion("apps", ANY)])

    with pytest.raises(AmbiguousResource) as resources:
        mapper.resource_for(resource("//deployments"))
    with pytest.raises(AmbiguousResource):
        mapper.kind_for(resource("//deployments"))
    with pytest.raises(AmbiguousKind) as kinds:
        mapper.mapping(GroupKind("apps", "Deployment"))

    assert len(resources.value.candidates) == 2
    assert str(kinds.value) == (
        "apps/, Kind=Deployment matches multiple kinds "
        "[apps/v1, Kind=Deployment apps/v1beta1, Kind=Deployment]"
    )


def test_short_names_are_expanded() -> None:
    mapper = mapper_for(ALL)

    assert mapper.kind_for(resource("//po")) == PODS.kind
    assert mapper.resource_for(resource("apps//deploy")) == DEPLOYMENTS.resource
    assert mapper.resource_for(resource("/v1beta1/deploy")) == OLD_DEPLOYMENTS.resource
    assert mapper.resource_for(resource("app//deploy")) == DEPLOYMENTS.resource
    assert mapper.resource_singularizer("deploy") == "deployment"
    assert len(mapper.kinds_for(resource("//deploy"))) == 2
    assert len(mapper.resources_for(resource("//deploy"))) == 2
    with pytest.raises(NoResourceMatch):
        mapper.resource_for(resource("other//deploy"))


def test_a_long_name_is_never_taken_for_a_short_one() -> None:
    shadow = served("shadow.io/v1", "Shadow", short_names=("pods", "node"))
    mapper = mapper_for([shadow, *ALL])

    assert mapper.kind_for(resource("//pods")) == PODS.kind
    assert mapper.kind_for(resource("//node")) == NODES.kind
    assert mapper.kind_for(resource("shadow.io//pods")) == shadow.kind


def test_a_short_name_of_two_resources_means_the_first_and_warns() -> None:
    warnings: list[str] = []
    mapper = ShortNameMapper(DefaultMapper(ALL), ALL, warn=warnings.append)

    assert mapper.expand(resource("//ev")) == resource("//events")
    assert warnings == [
        'short name "ev" could also match lower priority resource events.events.k8s.io'
    ]
    assert ShortNameMapper(DefaultMapper(ALL), ALL).expand(resource("//ev")).resource == "events"


def test_versions_of_one_resource_do_not_make_its_short_name_ambiguous() -> None:
    warnings: list[str] = []

    ShortNameMapper(DefaultMapper(ALL), ALL, warn=warnings.append).expand(resource("//deploy"))

    assert warnings == []


def test_the_usual_mapper_prefers_core_then_the_order_given() -> None:
    mapper = mapper_for([EVENTS, OLD_DEPLOYMENTS, DEPLOYMENTS, CORE_EVENTS, POD_METRICS, PODS])

    assert mapper.kind_for(resource("//events")) == CORE_EVENTS.kind
    assert mapper.kind_for(resource("//pods")) == PODS.kind
    assert mapper.kind_for(resource("//deployments")) == OLD_DEPLOYMENTS.kind
    assert mapper.mapping(GroupKind("apps", "Deployment")).kind == OLD_DEPLOYMENTS.kind
    assert len(mapper.mappings(GroupKind("apps", "Deployment"))) == 2
    assert mapper.mapping(GroupKind("apps", "Deployment"), "v1").kind == DEPLOYMENTS.kind


GROUP_LIST: dict[str, Any] = {
    "kind": "APIGroupList",
    "groups": [
        {
            "name": "apps",
            "versions": [
                {"groupVersion": "apps/v1beta1", "version": "v1beta1"},
                {"groupVersion": "apps/v1", "version": "v1"},
                {"groupVersion": "apps/v2", "version": "v2"},
            ],
            "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"},
        },
        {"name": "b.io", "versions": [{"groupVersion": "b.io/v1", "version": "v1"}]},
    ],
}


def resource_list(version: str, *resources: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "APIResourceList", "groupVersion": version, "resources": list(resources)}


DEPLOYMENT_ENTRY: dict[str, Any] = {
    "name": "deployments",
    "singularName": "deployment",
    "kind": "Deployment",
    "namespaced": True,
    "shortNames": ["deploy"],
    "categories": ["all"],
}
RESOURCE_LISTS = [
    resource_list("b.io/v1", {"name": "things", "kind": "Thing", "namespaced": False}),
    resource_list("apps/v1beta1", DEPLOYMENT_ENTRY),
    resource_list(
        "apps/v1", DEPLOYMENT_ENTRY, {"name": "deployments/status", "kind": "Deployment"}
    ),
    resource_list("v1", {"name": "pods", "kind": "Pod", "namespaced": True}),
    resource_list("gone.io/v1", {"name": "ghosts", "kind": "Ghost"}),
]


def test_discovery_is_read_in_order_of_preference() -> None:
    resources = from_discovery(GROUP_LIST, RESOURCE_LISTS)

    assert [str(each.kind) for each in resources] == [
        "/v1, Kind=Pod",
        "apps/v1, Kind=Deployment",
        "apps/v1beta1, Kind=Deployment",
        "b.io/v1, Kind=Thing",
    ]
    assert resources[0].singular == "pod"
    assert resources[1] == DEPLOYMENTS
    assert resources[3].scope is Scope.CLUSTER


def test_discovery_makes_a_mapper() -> None:
    mapper = mapper_for(from_discovery(GROUP_LIST, RESOURCE_LISTS))

    assert mapper.kind_for(resource("//deploy")) == DEPLOYMENTS.kind


def aggregated(version: dict[str, Any], name: str | None = "apps") -> dict[str, Any]:
    return {"items": [{"metadata": {"name": name}, "versions": [version]}]}


DISCOVERED: dict[str, Any] = {
    "resource": "deployments",
    "responseKind": {"group": "", "version": "", "kind": "Deployment"},
    "scope": "Namespaced",
    "singularResource": "deployment",
    "shortNames": ["deploy"],
    "categories": ["all"],
    "verbs": ["get"],
    "subresources": [{"subresource": "status"}],
}


def test_aggregated_discovery_says_the_same() -> None:
    pod = {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced"}
    core = aggregated({"version": "v1", "resources": [pod]}, name=None)
    apps = aggregated({"version": "v1", "freshness": "Current", "resources": [DISCOVERED]})

    resources = from_aggregated_discovery(core, apps)

    assert resources[0].kind == PODS.kind
    assert resources[1:] == [DEPLOYMENTS]


def test_stale_versions_and_resources_without_objects_are_left_out() -> None:
    stale = aggregated({"version": "v1", "freshness": "Stale", "resources": [DISCOVERED]})
    only_parts = aggregated({"version": "v1", "resources": [{"resource": "x"}]})

    assert from_aggregated_discovery(stale, only_parts) == []


@pytest.mark.parametrize(
    ("groups", "lists", "place"),
    [
        ([], [], "<nil>: must be an object"),
        ({"groups": "x"}, [], "groups: must be a list"),
        ({"groups": [1]}, [], "groups[0]: must be an object"),
        (
            {"groups": [{"versions": [{}]}]},
            [],
            "groups[0].versions[0].groupVersion: must be a non-empty string",
        ),
        (
            {"groups": [{"preferredVersion": {"groupVersion": "a/b/c"}}]},
            [],
            "groups[0].preferredVersion.groupVersion: unexpected GroupVersion string: a/b/c",
        ),
        ({}, [None], "[0]: must be an object"),
        ({}, [resource_list("v1", {"kind": "X"})], "[0].resources[0].name: must be a non-empty"),
        (
            {},
            [resource_list("v1", {"name": "x", "kind": "X", "shortNames": [1]})],
            "[0].resources[0].shortNames[0]: must be a string",
        ),
        (
            {},
            [resource_list("v1", {"name": "x", "kind": "X", "namespaced": 1})],
            "[0].resources[0].namespaced: must be true or false",
        ),
    ],
)
def test_malformed_discovery_is_refused_with_the_place(groups: Any, lists: Any, place: str) -> None:
    with pytest.raises(MalformedDiscovery) as caught:
        from_discovery(groups, lists)

    assert str(caught.value).startswith(f"discovery document: {place}")


def test_malformed_aggregated_discovery_is_refused_with_the_place() -> None:
    wrong = aggregated({"version": "v1", "resources": [{**DISCOVERED, "scope": "Moon"}]})

    with pytest.raises(MalformedDiscovery) as caught:
        from_aggregated_discovery({"items": None}, wrong)

    assert str(caught.value) == (
        "discovery document: [1].items[0].versions[0].resources[0].scope: "
        "must be Namespaced or Cluster"
    )


KEYS = st.sampled_from(
    [
        "groups",
        "items",
        "versions",
        "groupVersion",
        "version",
        "resources",
        "name",
        "kind",
        "resource",
        "responseKind",
        "scope",
        "metadata",
        "preferredVersion",
        "shortNames",
    ]
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "v1", "a/b/c", "Cluster"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(DOCUMENTS, st.lists(DOCUMENTS, max_size=2))
def test_any_document_is_read_or_refused(groups: Any, lists: list[Any]) -> None:
    found: list[ServedResource] = []

    with suppress(MalformedDiscovery):
        found += from_discovery(groups, lists)
    with suppress(MalformedDiscovery):
        found += from_aggregated_discovery(groups)

    assert all(each.plural and each.kind.kind for each in found)


@given(
    st.lists(
        st.builds(
            served,
            st.sampled_from(["v1", "a/v1", "a/v2", "ab.io/v1beta1"]),
            st.sampled_from(["Pod", "Bus", "City"]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_registered_resource_is_found_by_its_full_name(
    resources: list[ServedResource],
) -> None:
    mapper = mapper_for(resources)

    for each in resources:
        assert each.resource in mapper.resources_for(each.resource)
        assert each.kind in mapper.kinds_for(each.resource)
        mapping = mapper.mapping(each.kind.group_kind, each.kind.version)
        assert (mapping.resource, mapping.kind) == (each.resource, each.kind)
        assert (
            mapper.resource_for(GroupVersionResource("", "", each.singular)).resource == each.plural
        )
