"""Tracking by objects and by whole documents come to the same managedFields."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apimachinery.codec import Codec
from apimachinery.meta.types import ManagedFieldsEntry, Object, ObjectMeta
from apimachinery.schema import GroupVersion
from apimachinery.testing import objects
from apis.coordination.install import COORDINATION
from apis.coordination.v1 import Lease, LeaseSpec
from apis.core.install import CORE
from apis.core.v1 import ConfigMap
from apis.gadgets.install import GADGETS
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.group import Group
from apiserver.managed_fields.field_tracking import FieldTracking
from apiserver.managed_fields.ownership import forget_new_times
from tests.apis.groups import full_scheme

CODEC = Codec(full_scheme())
RESOURCES = [(CORE, "services"), (CORE, "namespaces"), (CORE, "events"), (GADGETS, "gadgets")]
LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"))


class ByDocument(FieldTracking):
    """The long way, which is the definition."""

    def __init__(self, codec: Codec, group: Group, resource: Any) -> None:
        super().__init__(codec, group, resource)
        self._by_object = False


def _context(group: Group, resource: str, version: str, manager: str, sub: str) -> RequestContext:
    gvr = GroupVersion(group.name, version).with_resource(resource)
    return RequestContext(User("u"), "update", gvr, subresource=sub, field_manager=manager)


def _timeless(obj: Object) -> list[dict[str, Any]]:
    """The entries without their times, and so in an order that no clock decides."""
    found = [{**entry.__dict__, "time": None} for entry in obj.metadata.managed_fields]
    return sorted(found, key=lambda e: (e["manager"], e["api_version"], e["subresource"]))


@pytest.mark.parametrize(("group", "name"), RESOURCES, ids=lambda part: getattr(part, "name", part))
def test_both_ways_find_the_same_owners(group: Group, name: str) -> None:
    resource = next(found for found in group.resources if found.name == name)
    quick, thorough = (make(CODEC, group, resource) for make in (FieldTracking, ByDocument))

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def follow(data: st.DataObject) -> None:
        old: Object | None = None
        for step in range(3):
            new = data.draw(objects(resource.cls))
            new.metadata.uid = "uid"
            if old is not None:
                if data.draw(st.booleans()):
                    new = old.deep_copy()
                new.metadata.labels = data.draw(
                    st.dictionaries(st.sampled_from("abc"), st.just("x"))
                )
                if data.draw(st.booleans()):
                    new.metadata.managed_fields = old.deep_copy().metadata.managed_fields
            version = data.draw(st.sampled_from(group.versions))
            sub = data.draw(st.sampled_from(("", "status"))) if old is not None else ""
            context = _context(group, name, version, data.draw(st.sampled_from("mn")), sub)
            other = new.deep_copy()
            quick.track(context, old, new)
            thorough.track(context, old, other)
            assert _timeless(new) == _timeless(other), step
            old = new

    follow()


def test_parts_that_every_object_has_are_nobodys() -> None:
    """They are not pointers in Go: a creation sets fields in them, and not the part itself."""
    resource = next(found for found in COORDINATION.resources if found.name == "leases")
    tracking = FieldTracking(CODEC, COORDINATION, resource)
    context = _context(COORDINATION, "leases", "v1", "m", "")
    empty, held = Lease(), Lease(spec=LeaseSpec(holder_identity="me"))

    tracking.track(context, None, empty)
    tracking.track(context, None, held)

    assert empty.metadata.managed_fields == []
    assert [entry.fields_v1 for entry in held.metadata.managed_fields] == [
        {"f:spec": {"f:holderIdentity": {}}}
    ]


def test_a_manager_that_changes_nothing_keeps_its_time() -> None:
    """Entries are ordered by time, so the entry of the manager that writes again has moved."""
    early, late = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)
    old, new = (
        ConfigMap(
            metadata=ObjectMeta(
                name="a",
                managed_fields=[
                    ManagedFieldsEntry(manager=manager, operation="Apply", time=time)
                    for manager, time in entries
                ],
            )
        )
        for entries in (
            [("one", early), ("two", early)],
            [("two", early), ("one", late)],
        )
    )

    forget_new_times(new, old)

    assert new == old
