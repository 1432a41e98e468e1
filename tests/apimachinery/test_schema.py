"""The names of API things are read and printed as Kubernetes does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.schema import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    InvalidGroupVersion,
    parse_group_kind,
    parse_group_resource,
    parse_kind_arg,
    parse_resource_arg,
)

NAMES = st.text(st.characters(exclude_characters="/."), min_size=1, max_size=12)
GROUPS = st.lists(NAMES, min_size=1, max_size=3).map(".".join)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("", GroupVersion()),
        ("/", GroupVersion()),
        ("v1", GroupVersion("", "v1")),
        ("apps/v1", GroupVersion("apps", "v1")),
        ("apps/", GroupVersion("apps", "")),
        ("/v1", GroupVersion("", "v1")),
    ],
)
def test_group_version_is_read(text: str, version: GroupVersion) -> None:
    assert GroupVersion.parse(text) == version


@pytest.mark.parametrize("text", ["a/b/c", "//", "a//b"])
def test_two_slashes_are_no_group_version(text: str) -> None:
    with pytest.raises(InvalidGroupVersion) as caught:
        GroupVersion.parse(text)

    assert str(caught.value) == f"unexpected GroupVersion string: {text}"
    assert isinstance(caught.value, ValueError)


@given(group=st.just("") | GROUPS, version=NAMES)
def test_group_version_survives_printing(group: str, version: str) -> None:
    printed = str(GroupVersion(group, version))

    assert GroupVersion.parse(printed) == GroupVersion(group, version)


@given(st.text(max_size=40))
def test_any_text_is_a_group_version_or_refused(text: str) -> None:
    if text.count("/") > 1:
        with pytest.raises(InvalidGroupVersion):
            GroupVersion.parse(text)
    else:
        assert GroupVersion.parse(text).version == ("" if text == "/" else text.split("/")[-1])


def test_names_print_as_kubernetes_prints_them() -> None:
    assert str(GroupVersion("", "v1")) == "v1"
    assert str(GroupVersion("apps", "v1")) == "apps/v1"
    assert str(GroupVersionKind("apps", "v1", "Deployment")) == "apps/v1, Kind=Deployment"
    assert str(GroupVersionKind("", "v1", "Pod")) == "/v1, Kind=Pod"
    assert str(GroupVersionResource("", "v1", "pods")) == "/v1, Resource=pods"
    assert str(GroupResource("apps", "deployments")) == "deployments.apps"
    assert str(GroupResource("", "pods")) == "pods"
    assert str(GroupKind("apps", "Deployment")) == "Deployment.apps"
    assert str(GroupKind("", "Pod")) == "Pod"


def test_three_parts_can_mean_a_version_or_a_longer_group() -> None:
    assert parse_resource_arg("deployments.v1.apps") == (
        GroupVersionResource("apps", "v1", "deployments"),
        GroupResource("v1.apps", "deployments"),
    )
    assert parse_kind_arg("Ingress.v1.networking.k8s.io") == (
        GroupVersionKind("networking.k8s.io", "v1", "Ingress"),
        GroupKind("v1.networking.k8s.io", "Ingress"),
    )


def test_two_parts_have_no_version() -> None:
    assert parse_resource_arg("deployments.apps") == (None, GroupResource("apps", "deployments"))
    assert parse_kind_arg("Pod") == (None, GroupKind("", "Pod"))


def test_a_trailing_dot_names_the_core_group() -> None:
    versioned, _ = parse_resource_arg("pods.v1.")

    assert versioned == GroupVersionResource("", "v1", "pods")


@given(group=st.just("") | GROUPS, name=NAMES)
def test_unversioned_names_survive_printing(group: str, name: str) -> None:
    assert parse_group_resource(str(GroupResource(group, name))) == GroupResource(group, name)
    assert parse_group_kind(str(GroupKind(group, name))) == GroupKind(group, name)


def test_parts_are_joined_and_taken_apart() -> None:
    version = GroupVersion("apps", "v1")
    kind = version.with_kind("Deployment")
    resource = version.with_resource("deployments")

    assert GroupVersionKind.from_api_version("apps/v1", "Deployment") == kind
    assert (kind.group_version, kind.api_version) == (version, "apps/v1")
    assert kind.group_kind.with_version("v1") == kind
    assert resource.group_version == version
    assert resource.group_resource.with_version("v1") == resource


def test_a_kind_of_a_malformed_version_is_refused() -> None:
    with pytest.raises(InvalidGroupVersion):
        GroupVersionKind.from_api_version("a/b/c", "Pod")


def test_empty_means_every_part_is() -> None:
    assert GroupVersion().empty
    assert GroupVersionKind().empty
    assert GroupVersionResource().empty
    assert GroupKind().empty
    assert GroupResource().empty
    assert not GroupVersion("", "v1").empty
    assert not GroupKind("apps").empty


def test_names_are_ordered_and_can_be_keys() -> None:
    kinds = [GroupVersionKind("b", "v1", "A"), GroupVersionKind("a", "v1", "B")]

    assert sorted(kinds)[0].group == "a"
    assert len({*kinds, GroupVersionKind("a", "v1", "B")}) == 2
