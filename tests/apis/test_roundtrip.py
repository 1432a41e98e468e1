"""No kind loses anything on its way through versions, JSON, protobuf and the store.

`kinds/test_random_objects.py` says the same of the kinds of Kubernetes.
"""

import pytest

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import differences
from apimachinery.schema import INTERNAL, GroupVersion, GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.testing import assert_roundtrip
from apis.gadgets.install import GADGETS
from apiserver.views.scale_mapping import scale_scheme
from tests.apis.filled import filled
from tests.apis.groups import full_scheme

SCHEME = full_scheme()
KINDS = [
    (kind, cls)
    for kind, cls in SCHEME.all_kinds().items()
    if kind.version != INTERNAL and issubclass(cls, Object)
]
IDS = [f"{kind.kind}.{kind.version}.{kind.group}" for kind, _ in KINDS]
CODEC = Codec(SCHEME)


def test_gadgets_lose_nothing() -> None:
    assert_roundtrip(GADGETS.add_to_scheme, examples=10)


def test_events_of_both_groups_are_the_same() -> None:
    kinds = [GroupVersion(group, "v1").with_kind("Event") for group in ("", "events.k8s.io")]

    assert_roundtrip(full_scheme(), kinds=kinds, examples=10)


def test_scales_lose_nothing() -> None:
    assert_roundtrip(scale_scheme(), examples=10)


def test_every_kind_of_kubernetes_has_a_protobuf_form() -> None:
    without = {kind.group for kind, cls in KINDS if not CODEC.protobuf.supports(cls)}

    assert without == {"gadgets.example.io"}


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
