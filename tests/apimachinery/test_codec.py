"""Documents of a scheme: decode, default, convert, and back; and what is stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.codec import (
    Codec,
    CorruptObject,
    FieldValidation,
    MissingKind,
    StrictDecodeError,
    UnknownMediaType,
)
from apimachinery.evolution.field_tree import field_tree
from apimachinery.meta.status import Status
from apimachinery.meta.types import ObjectList
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.schema import GroupVersion
from apimachinery.scheme import NotRegistered, Scheme
from apimachinery.serialization.document_size import TooLarge
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from apimachinery.storage_codec import StorageCodec
from apimachinery.testing import objects
from apis.gadgets import GROUP, types, v1, v1beta1
from apis.gadgets.register import add_to_scheme

V1 = GroupVersion(GROUP, "v1")
V1BETA1 = GroupVersion(GROUP, "v1beta1")
GADGET = V1.with_kind("Gadget")
DOCUMENT = b'{"apiVersion":"gadgets.example.io/v1","kind":"Gadget","spec":{"model":"a1"}}'


@pytest.fixture
def scheme() -> Scheme:
    made = Scheme("test")
    add_to_scheme(made)
    made.add(GroupVersion("", "v1"), Status, internal=True)
    return made


@pytest.fixture
def codec(scheme: Scheme) -> Codec:
    return Codec(scheme)


def test_a_document_says_what_it_is(codec: Codec) -> None:
    decoded = codec.decode(DOCUMENT)

    assert isinstance(decoded.object, v1.Gadget)
    assert decoded.kind == GADGET


def test_an_object_of_an_internal_class_has_no_kind_and_version(codec: Codec) -> None:
    decoded = codec.decode_internal(b'{"apiVersion":"v1","kind":"Status","code":404}')

    assert decoded.object == Status(code=404)
    assert decoded.kind == GroupVersion("", "v1").with_kind("Status")


def test_keys_are_compared_only_if_they_may_be_repeated(codec: Codec) -> None:
    """Only a document that this process has encoded cannot have a key twice."""
    document = DOCUMENT.replace(b'"spec":', b'"spec":{"model":"a0"},"spec":')
    find = FieldValidation.WARN

    assert codec.decode_internal(document, validation=find).warnings
    assert not codec.decode_internal(document, validation=find, may_repeat_keys=False).warnings


def test_what_a_document_leaves_out_is_as_expected(codec: Codec) -> None:
    decoded = codec.decode(b'{"spec":{"model":"a1"}}', expected=GADGET)

    assert decoded.kind == GADGET


def test_a_document_of_another_version_is_read_as_what_it_says(codec: Codec) -> None:
    decoded = codec.decode(
        b'{"apiVersion":"gadgets.example.io/v1beta1","kind":"Gadget","spec":{"count":3}}',
        expected=GADGET,
    )

    assert decoded.kind == V1BETA1.with_kind("Gadget")
    assert isinstance(decoded.object, v1beta1.Gadget)
    assert decoded.object.spec.count == 3


def test_defaults_of_the_documents_version_apply(codec: Codec) -> None:
    decoded = codec.decode(b'{"apiVersion":"gadgets.example.io/v1beta1","kind":"Gadget"}')

    assert isinstance(decoded.object, v1beta1.Gadget)
    assert decoded.object.spec.model == "standard"


def test_decoding_to_the_internal_form_keeps_the_documents_kind(codec: Codec) -> None:
    decoded = codec.decode_internal(DOCUMENT)

    assert isinstance(decoded.object, types.Gadget)
    assert decoded.kind == GADGET


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"{}", "Object 'Kind' is missing in '{}'"),
        (b'{"kind":"Gadget"}', "Object 'apiVersion' is missing in '{\"kind\":\"Gadget\"}'"),
    ],
)
def test_a_document_must_say_its_kind(codec: Codec, document: bytes, message: str) -> None:
    with pytest.raises(MissingKind) as refused:
        codec.decode(document)

    assert str(refused.value) == message


def test_unknown_kinds_and_bad_versions_are_refused(codec: Codec) -> None:
    with pytest.raises(NotRegistered, match='no kind "Gizmo"'):
        codec.decode(b'{"apiVersion":"gadgets.example.io/v1","kind":"Gizmo"}')
    with pytest.raises(DecodeError, match="unexpected GroupVersion string: a/b/c"):
        codec.decode(b'{"apiVersion":"a/b/c","kind":"Gadget"}', expected=GADGET)


TROUBLED = b"""{"apiVersion":"gadgets.example.io/v1","kind":"Gadget",
  "spec":{"model":"a","model":"b","modle":"c","parts":[{"name":"x","nmae":"y"}]},"extra":1}"""
TROUBLES = (
    'duplicate field "spec.model"',
    'unknown field "spec.modle"',
    'unknown field "spec.parts[0].nmae"',
    'unknown field "extra"',
)
YAML_COMPLAINT = 'line 6: key "model" already set in map'
TROUBLED_YAML = b"""
apiVersion: gadgets.example.io/v1
kind: Gadget
spec:
  model: a
  model: b
  modle: c
  parts:
  - name: x
    nmae: y
extra: 1
"""


def test_strict_reports_everything_at_once_in_the_order_of_the_document(codec: Codec) -> None:
    with pytest.raises(StrictDecodeError) as refused:
        codec.decode(TROUBLED, validation=FieldValidation.STRICT)

    assert str(refused.value) == "strict decoding error: " + ", ".join(TROUBLES)


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        (TROUBLED_YAML, YAML_COMPLAINT),
        (TROUBLED, 'line 2: key "model" already set in map'),
        (b"a: 1\na:\n  b: 1\n  b: 2\n" + TROUBLED_YAML, None),
    ],
    ids=["YAML", "JSON that is called YAML", "inner keys come first"],
)
def test_repeated_keys_of_yaml_are_told_by_its_parser_and_before_the_rest(
    codec: Codec, document: bytes, complaint: str | None
) -> None:
    lines = (
        [complaint]
        if complaint
        else [
            'line 4: key "b" already set in map',
            'line 3: key "a" already set in map',
            'line 10: key "model" already set in map',
        ]
    )
    unknown = TROUBLES[1:] if complaint else ('unknown field "a"', *TROUBLES[1:])

    with pytest.raises(StrictDecodeError) as refused:
        codec.decode(document, media_type=YAML, validation=FieldValidation.STRICT)
    warned = codec.decode(document, media_type=YAML, validation=FieldValidation.WARN)

    head = "error converting YAML to JSON: yaml: unmarshal errors:"
    assert refused.value.problems == ("\n  ".join((head, *lines)), *unknown)
    assert warned.warnings == (*lines, *unknown)


def test_an_unknown_field_is_told_once_and_what_is_in_it_not_at_all(codec: Codec) -> None:
    document = DOCUMENT[:-1] + b',"extra":{"a":1,"a":2},"extra":{"b":1}}'

    decoded = codec.decode(document, validation=FieldValidation.WARN)

    assert decoded.warnings == ('unknown field "extra"',)


def test_no_more_than_a_hundred_problems_are_told(codec: Codec) -> None:
    document = DOCUMENT[:-1] + b"".join(b',"x%d":1' % number for number in range(200)) + b"}"

    decoded = codec.decode(document, validation=FieldValidation.WARN)

    assert len(decoded.warnings) == 100
    assert decoded.warnings[-1] == 'unknown field "x99"'


@pytest.mark.parametrize(("document", "media_type"), [(TROUBLED, JSON), (TROUBLED_YAML, YAML)])
class TestStrictness:
    def test_warn_takes_the_last_and_says_so(
        self, codec: Codec, document: bytes, media_type: str
    ) -> None:
        decoded = codec.decode(document, media_type=media_type, validation=FieldValidation.WARN)

        assert decoded.warnings[1:] == TROUBLES[1:]
        assert isinstance(decoded.object, v1.Gadget)
        assert decoded.object.spec.model == "b"

    def test_ignore_says_nothing(self, codec: Codec, document: bytes, media_type: str) -> None:
        assert codec.decode(document, media_type=media_type).warnings == ()


def test_large_documents_are_refused_before_they_are_read(scheme: Scheme) -> None:
    with pytest.raises(TooLarge, match="limit is 10"):
        Codec(scheme, max_bytes=10).decode(DOCUMENT)


def test_unknown_media_types_are_refused(codec: Codec) -> None:
    with pytest.raises(UnknownMediaType, match="accepted media types include: application/json"):
        codec.decode(DOCUMENT, media_type="text/html")
    with pytest.raises(UnknownMediaType):
        codec.encode(Status(), media_type="text/html")


def test_a_kind_without_numbers_has_no_protobuf_form(codec: Codec) -> None:
    body = codec.protobuf.encode(Status(message="m"), api_version=str(V1), kind="Gadget")

    with pytest.raises(UnknownMediaType, match="has no protobuf form: send application/json"):
        codec.decode(body, media_type=PROTOBUF)


def test_protobuf_documents_are_read_and_written(codec: Codec) -> None:
    status = Status(status="Failure", message="m", code=404)

    body = codec.encode(status, media_type=PROTOBUF)
    decoded = codec.decode(body, media_type=PROTOBUF)

    assert body.startswith(b"k8s\x00")
    assert decoded.kind == GroupVersion("", "v1").with_kind("Status")
    assert decoded.object == status


def test_bad_protobuf_is_a_decode_error(codec: Codec) -> None:
    with pytest.raises(DecodeError):
        codec.decode(b"k8s\x00\xff\xff", media_type=PROTOBUF)


def test_encoding_names_kind_and_version_and_leaves_the_object_alone(codec: Codec) -> None:
    gadget = types.Gadget(spec=types.GadgetSpec(model="a"))

    data = codec.encode(gadget, V1BETA1)

    assert data.startswith(b'{"kind":"Gadget","apiVersion":"gadgets.example.io/v1beta1",')
    assert (gadget.kind, gadget.api_version) == ("", "")


def test_yaml_is_written_from_the_same_document(codec: Codec) -> None:
    text = codec.encode(v1.Gadget(spec=v1.GadgetSpec(model="a")), media_type=YAML).decode()

    assert text.startswith("apiVersion: gadgets.example.io/v1\nkind: Gadget\nmetadata: {}\nspec:\n")
    assert codec.decode(text.encode(), media_type=YAML).kind == GADGET


def test_pretty_json_is_the_same_document(codec: Codec) -> None:
    pretty = codec.encode(v1.Gadget(spec=v1.GadgetSpec(model="a")), pretty=True)

    assert pretty.startswith(b'{\n  "kind": "Gadget",\n')
    assert codec.decode(pretty).kind == GADGET


def test_unstructured_objects_are_written_as_they_are(codec: Codec) -> None:
    made = Unstructured(kind="X", api_version="x/v1")
    made["spec"] = {"b": 1, "a": None}

    assert codec.encode(made) == (
        b'{"kind":"X","apiVersion":"x/v1","metadata":{},"spec":{"a":null,"b":1}}'
    )


def test_integers_of_any_size_survive_in_unstructured_objects(codec: Codec) -> None:
    body = b'{"kind":"X","apiVersion":"x/v1","metadata":{},"spec":1180591620717411303424}'

    assert codec.encode(decode_json(Unstructured, body).object) == body


def test_lists_are_encoded_with_their_kind(codec: Codec) -> None:
    listed = ObjectList[types.Gadget](items=[types.Gadget(spec=types.GadgetSpec(model="a"))])

    data = codec.encode(listed, V1)

    assert data.startswith(b'{"kind":"GadgetList","apiVersion":"gadgets.example.io/v1","metadata":')
    assert b'"items":[{"metadata":{},"spec":{"model":"a"' in data


@given(objects(types.Gadget))
def test_equal_objects_are_stored_as_equal_bytes(gadget: types.Gadget) -> None:
    scheme = Scheme()
    add_to_scheme(scheme)
    storage = StorageCodec(scheme)
    data = storage.encode(gadget)

    again = storage.decode(data)

    assert again == gadget
    assert storage.encode(again) == data


def test_the_internal_type_is_what_is_stored(scheme: Scheme) -> None:
    gadget = types.Gadget(spec=types.GadgetSpec(model="a"))
    gadget.metadata.resource_version = "5"

    data = StorageCodec(scheme).encode(gadget)

    assert data == (
        b'{"kind":"Gadget","apiVersion":"gadgets.example.io/__internal",'
        b'"$shape":"%b","metadata":{},"spec":{"model":"a","replicas":1,"timeout":"PT1M"},"status":{}}'
        % field_tree(types.Gadget).fingerprint.encode()
    )
    assert gadget.metadata.resource_version == "5"


def test_a_group_can_store_a_version_instead_and_both_are_read(scheme: Scheme) -> None:
    gadget = types.Gadget(spec=types.GadgetSpec(model="a", replicas=4))
    versioned, internal = StorageCodec(scheme, V1BETA1), StorageCodec(scheme)

    assert b'"apiVersion":"gadgets.example.io/v1beta1"' in versioned.encode(gadget)
    assert versioned.decode(internal.encode(gadget)) == gadget
    assert internal.decode(versioned.encode(gadget)) == gadget


def test_stored_bytes_in_another_order_are_read_too(scheme: Scheme) -> None:
    data = b'{"spec":{"model":"a"},"apiVersion":"gadgets.example.io/__internal","kind":"Gadget"}'

    decoded = StorageCodec(scheme).decode(data)

    assert isinstance(decoded, types.Gadget)
    assert decoded.spec.model == "a"


def test_corrupt_bytes_are_told_apart(scheme: Scheme) -> None:
    data = StorageCodec(scheme).encode(types.Gadget(spec=types.GadgetSpec(model="a")))

    with pytest.raises(CorruptObject):
        StorageCodec(scheme).decode(data[:-5])


@given(st.binary(max_size=60), st.sampled_from([JSON, YAML, PROTOBUF]))
def test_any_bytes_are_decoded_or_refused(data: bytes, media_type: str) -> None:
    scheme = Scheme()
    add_to_scheme(scheme)
    try:
        codec = Codec(scheme)
        codec.decode(data, media_type=media_type, validation=FieldValidation.STRICT)
    except (DecodeError, NotRegistered):
        pass
    else:
        pytest.fail("random bytes cannot be a gadget")
