"""Tracking by objects and by whole documents come to the same managedFields."""

from collections.abc import Callable
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
from apis.core.v1 import ConfigMap, Service, ServicePort, ServiceSpec, SessionAffinityConfig
from apis.gadgets.install import GADGETS
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.group import Group
from apiserver.managed_fields.created_fields import MAX_STRUCTURES
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
                new.metadata.labels = data.draw(LABELS)
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


class Keeping(FieldTracking):
    """Refuses to apply the rules of ownership."""

    def _after_write(self, *arguments: Any) -> list[ManagedFieldsEntry]:
        raise AssertionError("the owners of no field change")


def _tracking(cls: type[FieldTracking], group: Group, name: str) -> FieldTracking:
    resource = next(found for found in group.resources if found.name == name)
    return cls(CODEC, group, resource)


def _service(**spec: Any) -> Service:
    return Service(
        metadata=ObjectMeta(name="a", uid="u", annotations={"step": "0"}, labels={"app": "a"}),
        spec=ServiceSpec(selector={"app": "a"}, **spec),
    )


def _renumber(service: Service) -> None:
    service.spec.ports[1].node_port = 31_000


def _annotate(service: Service) -> None:
    service.metadata.annotations = {"step": "1"}


def _select(service: Service) -> None:
    service.spec.selector["app"] = "b"


def _repeat(service: Service) -> None:
    """Change nothing."""


def _allow(service: Service) -> None:
    service.spec.load_balancer_source_ranges = ["10.0.0.0/8", "11.0.0.0/8"]


def _relabel(service: Service) -> None:
    service.metadata.labels = {"app": "a", "tier": "web"}


def _unset(service: Service) -> None:
    service.spec.ports[1].node_port = 0


def _move(service: Service) -> None:
    service.spec.ports[0].port = 8080


def _reorder(service: Service) -> None:
    service.spec.ports.reverse()


def _retype(service: Service) -> None:
    service.spec.session_affinity_config = SessionAffinityConfig()


def _tracked(change: Callable[[Service], None], manager: str, second: str) -> list[Any]:
    """Return a stored service and its successor, with the entries of two managers at least."""
    ports = [
        ServicePort(name="web", port=80, protocol="TCP", node_port=30_000),
        ServicePort(name="tls", port=443, protocol="TCP", node_port=30_001),
    ]
    old = _service(ports=ports, load_balancer_source_ranges=["10.0.0.0/8"])
    thorough = _tracking(ByDocument, CORE, "services")
    thorough.track(_context(CORE, "services", "v1", manager, ""), None, old)
    labelled = old.deep_copy()
    labelled.metadata.labels["owner"] = "x"
    thorough.track(_context(CORE, "services", "v1", second, ""), old, labelled)
    new = labelled.deep_copy()
    change(new)
    return [labelled, new]


@pytest.mark.parametrize("change", [_renumber, _annotate, _select, _repeat, _allow])
@pytest.mark.parametrize("second", ["m", "n"])
def test_changes_of_own_values_keep_all_owners(
    change: Callable[[Service], None], second: str
) -> None:
    old, new = _tracked(change, "m", second)
    expected = new.deep_copy()
    context = _context(CORE, "services", "v1", "m", "")

    _tracking(Keeping, CORE, "services").track(context, old, new)
    _tracking(ByDocument, CORE, "services").track(context, old, expected)

    assert _timeless(new) == _timeless(expected)


@pytest.mark.parametrize("change", [_relabel, _unset, _move, _reorder, _retype, _annotate])
def test_other_changes_follow_the_rules_of_ownership(change: Callable[[Service], None]) -> None:
    """The manager is another one, or the change adds, removes or moves a field."""
    old, new = _tracked(change, "m" if change is not _annotate else "n", "n")
    expected = new.deep_copy()
    context = _context(CORE, "services", "v1", "m", "")

    _tracking(FieldTracking, CORE, "services").track(context, old, new)
    _tracking(ByDocument, CORE, "services").track(context, old, expected)

    assert _timeless(new) == _timeless(expected)


def test_a_change_of_own_values_sets_the_time() -> None:
    old, new = _tracked(_annotate, "m", "n")
    early = datetime(2000, 1, 1, tzinfo=UTC)
    for entry in (*old.metadata.managed_fields, *new.metadata.managed_fields):
        entry.time = early

    context = _context(CORE, "services", "v1", "m", "")
    _tracking(Keeping, CORE, "services").track(context, old, new)

    last = new.metadata.managed_fields[-1]
    assert [entry.manager for entry in new.metadata.managed_fields] == ["n", "m"]
    assert last.time is not None and last.time > early


@pytest.mark.parametrize("count", [1, MAX_STRUCTURES + 1])
def test_objects_of_one_structure_share_their_fields(count: int) -> None:
    """However many structures were seen: the oldest are forgotten."""
    tracking = _tracking(FieldTracking, CORE, "configmaps")
    context = _context(CORE, "configmaps", "v1", "m", "")

    def created(key: str, value: str) -> Any:
        obj = ConfigMap(metadata=ObjectMeta(name=value), data={key: value})
        tracking.track(context, None, obj)
        return obj.metadata.managed_fields[0].fields_v1

    for number in range(count):
        fields = created(f"key-{number}", "x")

    assert created(f"key-{count - 1}", "y") is fields
    assert fields == {"f:data": {".": {}, f"f:key-{count - 1}": {}}}
    assert len(tracking._created._fields) <= MAX_STRUCTURES


def test_long_structures_are_not_remembered() -> None:
    tracking = _tracking(FieldTracking, CORE, "configmaps")
    context = _context(CORE, "configmaps", "v1", "m", "")
    obj = ConfigMap(metadata=ObjectMeta(name="a"), data=dict.fromkeys(map(str, range(999)), "x"))

    tracking.track(context, None, obj)

    assert len(obj.metadata.managed_fields) == 1
    assert not tracking._created._fields


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
