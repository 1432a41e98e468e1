"""Transforms: what is cached is made smaller."""

import sys

from apimachinery.meta.types import ManagedFieldsEntry
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import decode_json
from client.informer import chain, compact, drop_managed_fields
from tests.client.informer.clock import FakeClock
from tests.client.informer.conftest import Background
from tests.client.informer.informers import informer_of
from tests.client.informer.server import Gadget, Server, gadget


async def test_a_transform_makes_what_is_cached_smaller(
    server: Server, clock: FakeClock, background: Background
) -> None:
    made = server.put("a")
    made.metadata.managed_fields = [ManagedFieldsEntry(manager="m", operation="Update")]
    informer = informer_of(server, clock, transform=drop_managed_fields)
    background(informer.run())
    await informer.wait_synced()

    cached = informer.lister.namespace("default").get("a")

    assert cached.metadata.managed_fields == []
    assert made.metadata.managed_fields
    made.metadata.managed_fields = []
    assert cached == made


async def test_transforms_can_be_chained_and_compacting_can_be_left_out(
    server: Server, clock: FakeClock, background: Background
) -> None:
    seen: list[Gadget] = []

    def note(obj: Gadget) -> Gadget:
        seen.append(decode_json(Gadget, obj.model_dump_json(), find_unknown=False).object)
        return seen[-1]

    server.put("a")
    for smaller in (True, False):
        transform = chain(drop_managed_fields, note)
        informer = informer_of(server, clock, transform=transform, compact=smaller)
        background(informer.run())
        await informer.wait_synced()

        assert informer.store.objects() == [seen[-1]]
        assert bool(seen[-1].metadata.model_fields_set) is not smaller


def size_of(obj: Gadget) -> int:
    parts = (obj, obj.metadata, obj.spec)
    return sum(
        sys.getsizeof(part.__dict__) + sys.getsizeof(part.model_fields_set) for part in parts
    )


def test_a_compact_object_is_equal_and_much_smaller() -> None:
    document = (
        b'{"metadata":{"name":"a","namespace":"x","uid":"1","resourceVersion":"7",'
        b'"labels":{"a":"b"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p",'
        b'"uid":"2"}]},"spec":{"size":3}}'
    )
    decoded = decode_json(Gadget, document, find_unknown=False).object

    small = compact(decode_json(Gadget, document, find_unknown=False).object)

    assert small == decoded
    assert small.model_dump_json() == decoded.model_dump_json()
    own = size_of(small) - 3 * sys.getsizeof(set())
    assert own < size_of(decoded) * 0.6
    copy = small.deep_copy()
    copy.spec.size = 9
    copy.metadata.labels["c"] = "d"
    assert (small.spec.size, small.metadata.labels) == (3, {"a": "b"})


def test_compact_objects_share_nothing_that_can_change() -> None:
    one, other = compact(gadget("a")), compact(gadget("b"))

    one.spec.size = 7
    one.metadata.labels["x"] = "y"

    assert other == gadget("b")
    assert (one.spec.model_fields_set, other.spec.model_fields_set) == (set(), set())
    assert one.model_copy().model_fields_set == set()


def test_an_unstructured_object_can_be_compacted() -> None:
    decoded = decode_json(Unstructured, b'{"kind":"X","metadata":{"name":"a"},"spec":{"n":[1]}}')

    small = compact(decoded.object)

    assert small == decoded.object
    assert small["spec"] == {"n": [1]}
