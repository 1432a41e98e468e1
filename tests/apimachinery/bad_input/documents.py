"""Documents: JSON, YAML, protobuf, stored bytes and streams of them."""

from apimachinery.codec import (
    Codec,
    CorruptObject,
    FieldValidation,
    MissingKind,
    StrictDecodeError,
    UnknownMediaType,
)
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.protobuf import InvalidProtobuf, Unframer
from apimachinery.schema import GroupVersion
from apimachinery.scheme import NotRegistered, Scheme
from apimachinery.serialization.document_size import TooLarge
from apimachinery.serialization.media_types import PROTOBUF, YAML
from apimachinery.serialization.serializer import LineFrames
from apimachinery.storage_codec import StorageCodec
from apis.gadgets.register import add_to_scheme
from tests.apimachinery.bad_input import MILLION, RIGHT_TO_LEFT, Table
from tests.apimachinery.protobuf.protobuf_kinds import ConfigMap


def _scheme() -> Scheme:
    scheme = Scheme("bad input")
    add_to_scheme(scheme)
    scheme.add(GroupVersion("", "v1"), ConfigMap, internal=True)
    return scheme


SCHEME = _scheme()
CODEC = Codec(SCHEME)
V1 = GroupVersion("gadgets.example.io", "v1")
V1BETA1 = GroupVersion("gadgets.example.io", "v1beta1")
GADGET = V1.with_kind("Gadget")


def strict_json(data: bytes) -> object:
    return CODEC.decode(data, expected=GADGET, validation=FieldValidation.STRICT)


def strict_yaml(data: bytes) -> object:
    return CODEC.decode(data, expected=GADGET, media_type=YAML, validation=FieldValidation.STRICT)


def unexpected_json(data: bytes) -> object:
    return CODEC.decode(data)


def old_json(data: bytes) -> object:
    return CODEC.decode(data, expected=V1BETA1.with_kind("Gadget"))


def protobuf(data: bytes) -> object:
    return CODEC.decode(data, media_type=PROTOBUF)


def config_map(raw: str) -> bytes:
    return CODEC.protobuf.wrap(bytes.fromhex(raw), api_version="v1", kind="ConfigMap")


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def laughs(first: str, line: str, levels: int) -> bytes:
    """Anchors that each repeat the one before ten times."""
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} {line % ', '.join([f'*a{level - 1}'] * 10)}")
    return "\n".join(lines).encode()


def chain(levels: int) -> bytes:
    """Anchors that each hold the one before: no line is nested, but the value is."""
    lines = ["a0: &a0 []", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, levels))]
    return "\n".join(lines).encode()


def spec(members: str) -> bytes:
    return b'{"spec": {"model": "m", %b}}' % members.encode()


JSON_DOCUMENTS = Table(
    "json",
    strict_json,
    [
        (b"", DecodeError, "line 1 column 1"),
        (b" \n\t", DecodeError, "line 2 column 2"),
        (b"null", DecodeError, "cannot unmarshal null into Go value"),
        (b"5", DecodeError, "cannot unmarshal number into Go value"),
        (b'"text"', DecodeError, "cannot unmarshal string into Go value"),
        (b"[]", DecodeError, "cannot unmarshal array into Go value"),
        (b"true", DecodeError, "cannot unmarshal bool into Go value"),
        (b"{", DecodeError, "column 2"),
        (b'{"spec"', DecodeError, "column 8"),
        (b'{"spec":}', DecodeError, "column 9"),
        (b"{'spec': 1}", DecodeError, "column 2"),
        (b'{"spec": {"model": "m"},}', DecodeError, "column 25"),
        (b'{"spec": {"model": "m"}} x', DecodeError, "column 26"),
        (b'{"spec": {"model": "m"}}{}', DecodeError, "column 25"),
        (b'{"spec": {"model": "\xff"}}', DecodeError, ""),
        (b'{"spec": {"model": "\\ud800"}}', DecodeError, "line 1 column"),
        (b'{"spec": {"model": "a\x00b"}}', DecodeError, "line 1 column 22"),
        (b'{"spec": {"model": "\\x"}}', DecodeError, "line 1 column"),
        (b'\xef\xbb\xbf{"spec": {"model": "m"}}', DecodeError, "column 1"),
        ('{"spec": {"model": "m"}}'.encode("utf-16"), DecodeError, ""),
        (b"{}", DecodeError, "spec: Required value"),
        (b'{"spec": {}}', DecodeError, "spec.model: Required value"),
        (b'{"spec": null}', DecodeError, "spec: Required value"),
        (b'{"spec": []}', DecodeError, "struct field Gadget.spec of type v1.GadgetSpec"),
        (b'{"spec": {"model": 5}}', DecodeError, "field GadgetSpec.spec.model of type string"),
        (b'{"spec": {"model": true}}', DecodeError, "cannot unmarshal bool into Go struct field"),
        (spec('"replicas": "1"'), DecodeError, "GadgetSpec.spec.replicas of type int64"),
        (spec('"replicas": true'), DecodeError, "cannot unmarshal bool"),
        (spec('"replicas": 1.5'), DecodeError, "number 1.5 into"),
        (spec('"replicas": 101'), DecodeError, "spec.replicas: Invalid value: 101"),
        (spec('"replicas": -1'), DecodeError, "should be greater than or equal to 0"),
        (spec('"replicas": 9223372036854775808'), DecodeError, "spec.replicas: Invalid value"),
        (spec('"replicas": 1e400'), DecodeError, "GadgetSpec.spec.replicas"),
        (spec('"replicas": NaN'), DecodeError, "line 1 column"),
        (spec('"replicas": -Infinity'), DecodeError, "line 1 column"),
        (spec('"replicas": 01'), DecodeError, "line 1 column"),
        (spec('"replicas": ' + "9" * MILLION), DecodeError, "out of range at line 1"),
        (spec('"replicas": 1' + "0" * 4500), DecodeError, "out of range at line 1 column"),
        (spec('"replica": 1'), StrictDecodeError, 'unknown field "spec.replica"'),
        (
            spec('"replicas": 1, "replicas": 2'),
            StrictDecodeError,
            'duplicate field "spec.replicas"',
        ),
        (
            spec('"a": 1, "parts": [{"name": "p", "b": 1, "name": "q"}]'),
            StrictDecodeError,
            'unknown field "spec.a", unknown field "spec.parts[0].b",'
            ' duplicate field "spec.parts[0].name"',
        ),
        (b'{"spec": {"model": "m"}, "Spec": {}}', StrictDecodeError, 'unknown field "Spec"'),
        (spec('"parts": {}'), DecodeError, "GadgetSpec.spec.parts of type []"),
        (spec('"parts": [5]'), DecodeError, "GadgetSpec.spec.parts of type "),
        (spec('"parts": [null]'), DecodeError, "spec.parts[0].name: Required value"),
        (spec('"parts": [{"name": "p", "size": "1x"}]'), DecodeError, "quantities must match"),
        (spec('"parts": [{"name": "p", "size": []}]'), DecodeError, "quantities must match"),
        (spec('"parts": [{"name": "p", "size": true}]'), DecodeError, "quantities must match"),
        (spec('"parts": [{"name": "p", "size": 1e300}]'), DecodeError, "exponents must be"),
        (spec('"parts": [{"name": "p", "port": 1.5}]'), DecodeError, "spec.parts.port of type"),
        (spec('"parts": [{"name": "p", "port": 2147483648}]'), DecodeError, "spec.parts.port of"),
        (b'{"metadata": {"name": 5}}', DecodeError, "ObjectMeta.metadata.name of type"),
        (b'{"metadata": {"labels": {"a": 1}}}', DecodeError, "ObjectMeta.metadata.labels of"),
        (b'{"metadata": {"labels": ["a"]}}', DecodeError, "ObjectMeta.metadata.labels of"),
        (b'{"metadata": {"creationTimestamp": "now"}}', DecodeError, 'parsing time "now"'),
        (b'{"metadata": {"creationTimestamp": 0}}', DecodeError, "metadata.creationTimestamp"),
        (
            b'{"metadata": {"deletionTimestamp": "2024-02-30T00:00:00Z"}}',
            DecodeError,
            'parsing time "2024-02-30T00:00:00Z"',
        ),
        (b'{"status": {"conditions": [{}]}}', DecodeError, "conditions[0].type: Req"),
        (b'{"metadata": {"managedFields": [{"fieldsV1": []}]}}', DecodeError, "managedFields"),
        (b'{"kind": 5}', DecodeError, "field .kind of type string"),
        (b'{"apiVersion": "a/b/c"}', DecodeError, "unexpected GroupVersion string: a/b/c"),
        (b'{"kind": "Widget"}', NotRegistered, 'no kind "Widget" is registered for version'),
        (b'{"apiVersion": "x/v1"}', NotRegistered, 'version "x/v1"'),
        (b'{"kind": "a\\u0000\\"b"}', NotRegistered, 'no kind "a\\x00\\"b" is registered'),
        (b'{"kind": "' + RIGHT_TO_LEFT.encode() + b'"}', NotRegistered, '"\\u202e"'),
        (b'{"a": ' + nested(201) + b"}", DecodeError, "recursion limit exceeded at line 1 column"),
        (b'{"a": ' + nested(300) + b"}", DecodeError, "recursion limit exceeded at line 1 column"),
        (b'{"a": 1, "a": ' + nested(900) + b"}", DecodeError, "recursion limit exceeded"),
        (b'{"a": ' + nested(100_000) + b"}", DecodeError, "nested deeper than 200 levels"),
        (b'{"a": ' + b"[" * 100_000, DecodeError, "nested deeper than 200 levels"),
        (b'{"a": ' + b"[" * MILLION, TooLarge, "limit is 150000 values"),
        (b'{"a":' * 70_000, DecodeError, "nested deeper than 200 levels"),
        (b" " * (3 * 1024 * 1024 + 1), TooLarge, "limit is 3145728"),
        (b'{"' + b"k" * 3_000_000 + b'": 1}', DecodeError, "spec: Required value"),
    ],
)

JSON_WITHOUT_EXPECTATION = Table(
    "json of any kind",
    unexpected_json,
    [
        (b"{}", MissingKind, "Object 'Kind' is missing in '{}'"),
        (b'{"kind": "Gadget"}', MissingKind, "Object 'apiVersion' is missing in"),
        (b'{"apiVersion": "v1"}', MissingKind, "Object 'Kind' is missing in"),
        (b'{"kind": "Gadget", "apiVersion": "/v1/"}', DecodeError, "unexpected GroupVersion"),
        (b'{"kind": "Gadget", "apiVersion": 1}', DecodeError, "field .apiVersion of type string"),
        (b'{"kind": "Gadget", "apiVersion": "v1"}', NotRegistered, 'kind "Gadget"'),
        (
            b'{"kind": "G", "apiVersion": "gadgets.example.io/v1"}',
            NotRegistered,
            "registered kinds: Gadget",
        ),
        (b'{"kind": "", "apiVersion": "v1"}', MissingKind, "'Kind' is missing"),
    ],
)

OLD_JSON_DOCUMENTS = Table(
    "json of another version",
    old_json,
    [
        (b'{"spec": {"timeout": 5}}', DecodeError, "GadgetSpec.spec.timeout of type string"),
        (b'{"spec": {"timeout": "5"}}', DecodeError, "time: missing unit"),
        (b'{"spec": {"timeout": "0s"}}', DecodeError, "spec.timeout: Invalid value"),
        (b'{"spec": {"timeout": "1y"}}', DecodeError, 'unknown unit "y"'),
    ],
)

UNTYPED_JSON = Table(
    "untyped json",
    lambda data: decode_json(Unstructured, data),
    [
        (b'{"spec": NaN}', DecodeError, "line 1 column 10"),
        (b'{"spec": [Infinity]}', DecodeError, "line 1 column 11"),
        (b'{"spec": {"a": 1e400}}', DecodeError, "number is infinity"),
        (b'{"spec": ' + b"9" * MILLION + b"}", DecodeError, "number is infinity"),
        (b'{"spec": "\\ud800"}', DecodeError, "line 1 column 11"),
        (b'{"spec": ' + nested(201) + b"}", DecodeError, "recursion limit exceeded"),
        (b'{"spec": ' + nested(2000) + b"}", DecodeError, "depth limit exceeded"),
        (b'{"metadata": 5}', DecodeError, "Unstructured.metadata of type v1.ObjectMeta"),
        (b'{"metadata": {"labels": {"a": {}}}}', DecodeError, "ObjectMeta.metadata.labels of"),
    ],
)

YAML_DOCUMENTS = Table(
    "yaml",
    strict_yaml,
    [
        (b"", DecodeError, "cannot unmarshal null into Go value"),
        (b"# only a remark", DecodeError, "cannot unmarshal null into Go value"),
        (b"- a", DecodeError, "cannot unmarshal array into Go value"),
        (b"text", DecodeError, "cannot unmarshal string into Go value"),
        (b"spec: {model: 5}", DecodeError, "GadgetSpec.spec.model of type string"),
        (b"spec: {model: yes}", DecodeError, "cannot unmarshal bool into"),
        (b"spec: {model: m, replicas: 1.5}", DecodeError, "GadgetSpec.spec.replicas"),
        (b"spec: {model: m, replicas: 1e999}", DecodeError, "cannot unmarshal string into"),
        (b"spec: {model: m, replicas: " + b"9" * MILLION + b"}", DecodeError, "spec.replicas"),
        (b"spec: {model: m, replicas: 0x" + b"f" * 300 + b"}", DecodeError, "spec.replicas"),
        (b"spec: {model: m, replicas: 1:30}", DecodeError, "GadgetSpec.spec.replicas"),
        (b"spec: {model: m, replica: 1}", StrictDecodeError, 'unknown field "spec.replica"'),
        (
            b"spec:\n  model: m\n  parts:\n  - name: p\n    name: q\n",
            StrictDecodeError,
            'line 5: key "name" already set in map',
        ),
        (b"spec: {model: m}\nspec: {model: m}", StrictDecodeError, 'key "spec" already set in map'),
        (b"spec: [", DecodeError, "yaml: line"),
        (b"spec: }", DecodeError, "yaml: line 1"),
        (b"spec:\n\tmodel: m", DecodeError, "yaml: line 2: found character that cannot start"),
        (b"spec: 1\n model: m", DecodeError, "yaml: line 2"),
        (b"spec: 'm", DecodeError, "yaml: line"),
        (b"spec: &", DecodeError, "yaml: line 1"),
        (b"spec: *nowhere", DecodeError, "yaml: line 1: unknown anchor 'nowhere' referenced"),
        (b"spec: &a [*a]", DecodeError, "yaml: line 1: anchor 'a' contains itself"),
        (b"spec: &a\n  <<: *a", DecodeError, "yaml: line 2: anchor 'a' contains itself"),
        (b"<<: 5", DecodeError, "yaml: line 1: map merge requires map or sequence of maps"),
        (b"<<: [{}, 5]", DecodeError, "yaml: line 1: map merge requires map or sequence of maps"),
        (b"? [a]\n: b", DecodeError, "yaml: line 1: a key must be a scalar"),
        (b"~: b", DecodeError, "yaml: line 1: a key must not be null"),
        (b"spec: !!python/object/apply:os.abort []", DecodeError, "spec of type v1.GadgetSpec"),
        (b"spec: !!python/name:os.abort ''", DecodeError, "yaml: line 1: unknown tag"),
        (b"spec: !secret x", DecodeError, "yaml: line 1: unknown tag '!secret'"),
        (b"spec: !!binary '*'", DecodeError, "yaml: line 1: !!binary is not base64"),
        (b"spec: .inf", DecodeError, "json: unsupported value: +Inf"),
        (b"a: 1\nspec: .NaN", DecodeError, "json: unsupported value: NaN"),
        (b"%YAML 9.9\n---\na: 1", DecodeError, "yaml: line 1"),
        (b"a: 1\n---\nb: 2", DecodeError, "yaml: line 2: expected one document"),
        (b"---\n" * 500_000, DecodeError, "yaml: line 2: expected one document"),
        (b"\xff\xfea", DecodeError, "yaml: not UTF-8 at byte 0"),
        (b"a: \xc3\x28", DecodeError, "yaml: not UTF-8 at byte 3"),
        (b"a: \x00", DecodeError, "yaml: unacceptable character #x0000"),
        (b'spec: {model: "\\ud800"}', DecodeError, "yaml: line 1: found invalid Unicode"),
        (b"a: " + nested(201), DecodeError, "yaml: nested deeper than 200 at a[0][0]"),
        (b"a: " + nested(100_000), DecodeError, "yaml: nested deeper than 200 at a[0][0]"),
        (b"[" * MILLION, DecodeError, "yaml: nested deeper than 200 at [0][0]"),
        (b"- " * MILLION, DecodeError, "yaml: nested deeper than 200 at [0][0]"),
        (b"? " * 500_000, DecodeError, "yaml: nested deeper than 200"),
        (b"{a: " * 400_000, DecodeError, "yaml: nested deeper than 200 at a.a.a"),
        (laughs("[x]", "[%s]", 12), DecodeError, "line 6: document contains excessive aliasing"),
        (laughs("{}", "{<<: [%s]}", 12), DecodeError, "document contains excessive aliasing"),
        (laughs("{k: x}", "{a: [%s]}", 12), DecodeError, "document contains excessive aliasing"),
        (
            b"a: &a " + b"x" * MILLION + b"\nb: [" + b", ".join([b"*a"] * 1000) + b"]",
            DecodeError,
            "yaml: line 2: document contains excessive aliasing",
        ),
        (chain(300), DecodeError, "yaml: Recursion limit reached"),
    ],
)

PROTOBUF_DOCUMENTS = Table(
    "protobuf",
    protobuf,
    [
        (b"", DecodeError, "empty data"),
        (b"k8s\x00", DecodeError, "empty body"),
        (b"{}", DecodeError, "expected prefix [107 56 115 0]"),
        (b"k8s\x00\xff", DecodeError, "unexpected end of data"),
        (b"k8s\x00\x0a\x05", DecodeError, "5 bytes announced, 0 left"),
        (b"k8s\x00\x08\x01", DecodeError, "typeMeta: wrong wire type 0"),
        (b"k8s\x00\x0a\x03\x0a\x01\xff", DecodeError, "typeMeta.apiVersion: a string must be"),
        (b"k8s\x00\x0a\x00", MissingKind, "Object 'Kind' is missing"),
        (
            CODEC.protobuf.wrap(b"", api_version="v1", kind="Nothing"),
            NotRegistered,
            'no kind "Nothing"',
        ),
        (
            CODEC.protobuf.wrap(b"", api_version="a/b/c", kind="ConfigMap"),
            DecodeError,
            "unexpected GroupVersion string: a/b/c",
        ),
        (
            CODEC.protobuf.wrap(b"", api_version=str(V1), kind="Gadget"),
            UnknownMediaType,
            "Kind=Gadget has no protobuf form",
        ),
        (config_map("0a"), DecodeError, "unexpected end of data"),
        (config_map("0801"), DecodeError, "metadata: wrong wire type 0, expected 2"),
        (config_map("0a 03 0a 01 ff"), DecodeError, "metadata.name: a string must be valid UTF-8"),
        (config_map("0a 03 0a 05 61"), DecodeError, "metadata: unexpected end of data"),
        (config_map("12 02 18 01"), DecodeError, "data: a map entry has"),
        (config_map("20 ffffffffffffffffffff01"), DecodeError, "more than 64 bits"),
        (config_map("0f"), DecodeError, "illegal wire type 7"),
        (config_map("00"), DecodeError, "illegal field number 0"),
        (config_map("0b" * 5000), DecodeError, "nested more than 100 deep"),
        (b"k8s\x00" + b"\x0a" * 100_000, DecodeError, "typeMeta"),
        (b"k8s\x00" + b"\x80" * MILLION, DecodeError, "more than 64 bits"),
    ],
)

STORED_OBJECTS = Table(
    "stored objects",
    StorageCodec(SCHEME).decode,
    [
        (b"", CorruptObject, "stored object is not readable"),
        (b"\x00" * 1000, CorruptObject, "line 1 column 1"),
        (b"{}", CorruptObject, "Object 'Kind' is missing"),
        (
            b'{"kind":"Gadget","apiVersion":"gadgets.example.io/__internal","spec":5}',
            CorruptObject,
            "spec",
        ),
        (b'{"kind":"Gadget","apiVersion":"a/b/c"}', CorruptObject, "GroupVersion string: a/b/c"),
        (b'{"kind":"Gone","apiVersion":"gadgets.example.io/__internal"}', NotRegistered, '"Gone"'),
    ],
)


STREAMS = Table(
    "streams",
    lambda data: list(LineFrames(limit=1000).feed(data)),
    [
        (b"x" * 1001, DecodeError, "larger than 1000 bytes"),
        (b"x" * 1001 + b"\n", DecodeError, "larger than 1000 bytes"),
    ],
)


def unframe(data: bytes) -> None:
    unframer = Unframer(max_frame=1000)
    unframer.feed(data)
    unframer.close()


PROTOBUF_STREAMS = Table(
    "protobuf streams",
    unframe,
    [
        (
            b"\xff\xff\xff\xff",
            InvalidProtobuf,
            "frame of 4294967295 bytes exceeds the limit of 1000",
        ),
        (b"\x00\x00\x00\x05abc", InvalidProtobuf, "ended inside a frame, after 7 bytes"),
        (b"\x00\x00", InvalidProtobuf, "ended inside a frame"),
    ],
)

TABLES = (
    JSON_DOCUMENTS,
    JSON_WITHOUT_EXPECTATION,
    OLD_JSON_DOCUMENTS,
    UNTYPED_JSON,
    YAML_DOCUMENTS,
    PROTOBUF_DOCUMENTS,
    STORED_OBJECTS,
    STREAMS,
    PROTOBUF_STREAMS,
)
