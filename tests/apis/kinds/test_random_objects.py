"""No object of any kind and version loses anything in conversions, JSON, protobuf and the store."""

import pytest

from apimachinery.codec import Codec
from apimachinery.meta.types import Object
from apimachinery.model.semantic_equality import differences
from apimachinery.schema import INTERNAL, GroupVersionKind
from apimachinery.serialization.media_types import JSON, PROTOBUF
from apimachinery.testing import Strategies, assert_roundtrip
from tests.apis.autoscaling.canonical import CANONICAL
from tests.apis.groups import full_scheme
from tests.apis.kinds.kind_files import facts

SCHEME = full_scheme()
CODEC = Codec(SCHEME)
KINDS = [
    pytest.param(kind, cls, id=f"{kind.group or 'core'}/{kind.version}/{kind.kind}")
    for kind, cls in SCHEME.all_kinds().items()
    if kind.version != INTERNAL and kind.group in facts() and issubclass(cls, Object)
]
STRATEGIES: Strategies = {**CANONICAL}
"""How to generate what a version can say in one way only."""
EXAMPLES = pytest.mark.parametrize("examples", [25, pytest.param(500, marks=pytest.mark.torture)])


@EXAMPLES
@pytest.mark.parametrize(("kind", "cls"), KINDS)
def test_nothing_is_lost(kind: GroupVersionKind, cls: type[Object], examples: int) -> None:
    def json_and_protobuf_say_the_same(obj: Object) -> None:
        read = {}
        for media_type in (JSON, PROTOBUF):
            data = CODEC.encode(obj, kind.group_version, media_type=media_type)
            decoded = CODEC.decode(data, media_type=media_type)
            assert decoded.kind == kind
            assert CODEC.encode(decoded.object, kind.group_version, media_type=media_type) == data
            decoded.object.kind = decoded.object.api_version = ""
            read[media_type] = decoded.object

        assert list(differences(read[JSON], read[PROTOBUF])) == []
        assert list(differences(obj, read[PROTOBUF])) == []

    assert_roundtrip(
        SCHEME,
        kinds=[kind],
        examples=examples,
        strategies=STRATEGIES,
        check=json_and_protobuf_say_the_same,
    )
