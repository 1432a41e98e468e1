"""No kind loses anything on its way through versions, JSON, protobuf and the store."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import differences
from apimachinery.scalars.wire_types import INT32_MAX, INT32_MIN
from apimachinery.schema import INTERNAL, GroupVersion, GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.serialization.media_types import JSON, PROTOBUF
from apimachinery.testing import Strategies, assert_roundtrip, objects
from apis.coordination import v1 as coordination
from apis.core import v1 as core
from apiserver.group import Group
from apiserver.views.scale_mapping import scale_scheme
from tests.apis.autoscaling.canonical import CANONICAL
from tests.apis.filled import filled
from tests.apis.groups import GROUPS, full_scheme

SCHEME = full_scheme()
KINDS = [
    (kind, cls)
    for kind, cls in SCHEME.all_kinds().items()
    if kind.version != INTERNAL and issubclass(cls, Object)
]
OWN = [group for group in GROUPS if not any(r.stored_as for r in group.resources)]
"""Groups that stand by themselves."""
IDS = [f"{kind.kind}.{kind.version}.{kind.group}" for kind, _ in KINDS]
CODEC = Codec(SCHEME)

INT32 = st.none() | st.integers(INT32_MIN, INT32_MAX)
BOUNDED: Strategies = {
    (core.ClientIPConfig, "timeout_seconds"): INT32,
    (coordination.LeaseSpec, "lease_duration_seconds"): INT32,
    (coordination.LeaseSpec, "lease_transitions"): INT32,
}
"""Optional integers of 32 bits."""
STRATEGIES: Strategies = {**BOUNDED, **CANONICAL}


@pytest.mark.parametrize("group", OWN, ids=lambda group: group.name or "core")
def test_versions_and_stored_bytes_lose_nothing(group: Group) -> None:
    assert_roundtrip(group.add_to_scheme, examples=10, strategies=STRATEGIES)


def test_events_of_both_groups_are_the_same() -> None:
    kinds = [GroupVersion(group, "v1").with_kind("Event") for group in ("", "events.k8s.io")]

    assert_roundtrip(full_scheme(), kinds=kinds, examples=10, strategies=BOUNDED)


def test_scales_lose_nothing() -> None:
    assert_roundtrip(scale_scheme(), examples=10)


def test_every_kind_of_kubernetes_has_a_protobuf_form() -> None:
    without = {kind.group for kind, cls in KINDS if not CODEC.protobuf.supports(cls)}

    assert without == {"gadgets.example.io"}


@pytest.mark.parametrize(
    ("kind", "cls"), [pair for pair in KINDS if pair[0].group != "gadgets.example.io"]
)
def test_json_and_protobuf_say_the_same(kind: GroupVersionKind, cls: type[Object]) -> None:
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(obj=st.one_of(st.just(filled(cls)), objects(cls, BOUNDED)))
    def check(obj: Object) -> None:
        SCHEME.default(obj)
        read = {}
        for media_type in (JSON, PROTOBUF):
            data = CODEC.encode(obj, kind.group_version, media_type=media_type)
            read[media_type] = CODEC.decode(data, media_type=media_type)

        assert read[JSON].kind == read[PROTOBUF].kind == kind
        text, binary = read[JSON].object, read[PROTOBUF].object
        text.kind = text.api_version = binary.kind = binary.api_version = ""
        assert list(differences(text, binary)) == []
        assert list(differences(obj, binary)) == []

    check()


@pytest.mark.parametrize(("kind", "cls"), KINDS, ids=IDS)
def test_no_field_is_dropped_by_json(kind: GroupVersionKind, cls: type[Object]) -> None:
    obj = filled(cls)
    obj.kind, obj.api_version = kind.kind, kind.api_version

    read = cls.model_validate_json(obj.model_dump_json())

    assert list(differences(obj, read)) == []


def test_whoami_is_the_same_in_both_versions() -> None:
    body = b'{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1beta1"}'

    decoded = CODEC.decode_internal(body)
    answer = CODEC.encode(decoded.object, decoded.kind.group_version)

    assert answer.startswith(body[:-1])


def test_groups_can_be_put_into_one_scheme() -> None:
    scheme = full_scheme()

    scheme.check()
    assert isinstance(scheme, Scheme)
