"""What every group says of itself fits together: names, kinds, field labels, columns."""

from typing import Any

import pytest

from apimachinery.schema import INTERNAL, GroupVersion
from apiserver.group import Group, Resource
from tests.apis.filled import filled
from tests.apis.groups import GROUPS, full_scheme

SCHEME = full_scheme()
RESOURCES = [
    pytest.param(group, resource, id=f"{resource.name}.{group.name}")
    for group in GROUPS
    for resource in group.resources
]


@pytest.mark.parametrize(("group", "resource"), RESOURCES)
def test_the_class_of_a_resource_is_its_internal_one(group: Group, resource: Resource) -> None:
    stored_in = resource.stored_as.group if resource.stored_as else group.name
    internal = GroupVersion(stored_in, INTERNAL).with_kind(resource.kind)

    assert SCHEME.class_of(internal) is resource.cls


@pytest.mark.parametrize(("group", "resource"), RESOURCES)
def test_the_preferred_version_has_every_resource(group: Group, resource: Resource) -> None:
    assert SCHEME.recognizes(GroupVersion(group.name, group.versions[0]).with_kind(resource.kind))


@pytest.mark.parametrize(("group", "resource"), RESOURCES)
def test_field_selectors_are_allowed_by_the_scheme(group: Group, resource: Resource) -> None:
    kind = GroupVersion(group.name, group.versions[0]).with_kind(resource.kind)

    for label in resource.fields:
        assert SCHEME.convert_field_label(kind, label, "x") == (label, "x")


@pytest.mark.parametrize(("group", "resource"), RESOURCES)
def test_selectable_fields_are_where_they_are_said_to_be(group: Group, resource: Resource) -> None:
    document = filled(resource.cls).model_dump(by_alias=True, mode="json")

    for path in resource.fields.values():
        value: Any = document
        for step in path.split("."):
            value = value[step]
        assert isinstance(value, str | bool | int)


@pytest.mark.parametrize(("group", "resource"), RESOURCES)
def test_columns_can_be_made_and_have_names_of_their_own(group: Group, resource: Resource) -> None:
    cells = {column.name: column.cell(filled(resource.cls)) for column in resource.columns}

    assert len(cells) == len(resource.columns)
    assert None not in cells.values()


@pytest.mark.parametrize(("group", "resource"), RESOURCES)
def test_strategies_survive_objects_with_anything_in_them(group: Group, resource: Resource) -> None:
    strategy, obj = resource.strategy, filled(resource.cls)

    strategy.prepare_for_create(obj)
    list(strategy.validate(obj))
    strategy.prepare_for_update(obj, filled(resource.cls))
    list(strategy.validate_update(obj, filled(resource.cls)))
    list(strategy.validate_status_update(obj, filled(resource.cls)))
    list(strategy.warnings(obj))


def test_names_and_short_names_are_unique_within_a_group() -> None:
    for group in GROUPS:
        names = [
            name
            for resource in group.resources
            for name in {resource.name, resource.singular_name, *resource.short_names}
        ]
        assert len(names) == len(set(names))


def test_namespaces_are_deleted_one_by_one() -> None:
    namespaces = next(found for found in GROUPS[0].resources if found.name == "namespaces")

    assert "deletecollection" not in namespaces.verbs
    assert [sub.name for sub in namespaces.subresources] == ["finalize", "status"]
