"""JSON and YAML as documents: duplicates, frames, limits, and what YAML means here."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.media_types import (
    JSON,
    PROTOBUF,
    YAML,
    negotiate,
    parse_accept,
    parse_media_type,
)
from apimachinery.serialization.serializer import (
    YAML_SERIALIZER,
    LineFrames,
    detect_media_type,
    read_json,
    read_yaml,
)
from apimachinery.serialization.yaml import load_yaml
from apimachinery.serialization.yaml_writer import dump_yaml
from tests.pauses import longest_pause, machine_factor, measures_time

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
    | st.text("-?:,[]{}#&*!|>'\"%@`a0. \t\n"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc.-/ :1\n#"), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("document", "duplicates"),
    [
        ('{"a":1,"b":2}', ()),
        ('{"a":1,"a":2}', ("a",)),
        ('{"a" :1,"a" :2}', ("a",)),
        ('{"a"\n:1,"b":{"c":1,"c":2,"c":3}}', ("b.c",)),
        ('{"a":[{"b":1,"b":2}],"a":[{"b":1,"b":2}]}', ("a", "a[0].b")),
        ('{"x":"\\u0022:","a":1,"a":2}', ("a",)),
        ('{"x":"\\":","a":1,"a":2}', ("a",)),
        ('{"x":"a : b","y":"\\":"}', ()),
        ('{"x\\\\":1,"x\\\\":2}', ("x\\",)),
    ],
)
def test_keys_that_stand_twice_are_found_with_their_paths(
    document: str, duplicates: tuple[str, ...]
) -> None:
    assert read_json(document.encode(), True).duplicates == duplicates


pairs = st.lists(st.tuples(st.sampled_from('ab":\\ é'), st.sampled_from('ab":\\ é')), max_size=4)


@given(pairs, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]), st.booleans())
def test_the_quick_look_for_duplicates_is_never_wrong(
    members: list[tuple[str, str]], separators: tuple[str, str], ascii_only: bool
) -> None:
    comma, colon = separators
    text = comma.join(
        f"{json.dumps(key, ensure_ascii=ascii_only)}{colon}{json.dumps(value)}"
        for key, value in members
    )
    names = [key for key, _ in members]
    expected = {name for name in names if names.count(name) > 1}

    found = read_json(f"{{{text}}}".encode(), True).duplicates

    assert set(found) == expected


@given(json_values)
def test_yaml_that_was_written_reads_back(value: Any) -> None:
    loaded, duplicates = load_yaml(dump_yaml(value))

    assert loaded == value
    assert duplicates == ()


@given(json_values)
def test_other_yaml_readers_read_the_same_strings(value: Any) -> None:
    """What is a string here must not be a date or a sexagesimal number to somebody else."""

    def strings(part: Any) -> list[str]:
        if isinstance(part, dict):
            return [text for item in part.values() for text in strings(item)]
        if isinstance(part, list):
            return [text for item in part for text in strings(item)]
        return [part] if isinstance(part, str) else []

    again = yaml.safe_load(dump_yaml(value))

    assert sorted(strings(again)) == sorted(strings(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {"b": 1, "a": [{"c": None, "d": []}, {}, ["x"]]},
            "a:\n- c: null\n  d: []\n- {}\n- - x\nb: 1\n",
        ),
        ({"a": "1"}, 'a: "1"\n'),
        ({"a": "2020-01-01T00:00:00Z"}, 'a: "2020-01-01T00:00:00Z"\n'),
        ({"a": "yes", "b": "1:30", "y": "0x1"}, 'a: "yes"\nb: "1:30"\n"y": "0x1"\n'),
        (["0X1F", "0B1", "-0O17"], '- "0X1F"\n- "0B1"\n- "-0O17"\n'),
        ({"a": "b: c", "b": "-x", "c": "- x", "d": ""}, 'a: "b: c"\nb: -x\nc: "- x"\nd: ""\n'),
        ({"a": "b\nc\n"}, "a: |\n  b\n  c\n"),
        ({"a": "b\n\nc"}, "a: |-\n  b\n\n  c\n"),
        ({"a": "b\n\n\n"}, "a: |+\n  b\n\n\n"),
        ({"a": " b\nc"}, 'a: " b\\nc"\n'),
        ({"a": "\x85\u2028"}, 'a: "\\u0085\\u2028"\n'),
        ({"k" * 1001: 1}, f"? {'k' * 1001}\n: 1\n"),
        ("0\n", "|\n  0\n"),
    ],
)
def test_yaml_is_written_as_kubectl_prints_it(value: Any, text: str) -> None:
    assert dump_yaml(value).decode() == text


@measures_time
def test_writing_yaml_lets_other_threads_run() -> None:
    value = {f"key {number}": str(number) for number in range(50_000)}
    limit = 0.05 * machine_factor()

    assert longest_pause(dump_yaml, value, limit=limit) < limit


@given(json_values)
def test_json_is_yaml(value: Any) -> None:
    text = json.dumps({"value": value})

    assert json.loads(read_yaml(text.encode()).json) == {"value": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2020-01-01", {"a": "2020-01-01"}),
        ("a: 2020-01-01T00:00:00Z", {"a": "2020-01-01T00:00:00Z"}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 0777", {"a": 511}),
        ("a: 0o17", {"a": 15}),
        ("a: 0x1F", {"a": 31}),
        ("a: 0b11", {"a": 3}),
        ("a: -12", {"a": -12}),
        ("a: 1_000", {"a": 1000}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: 1.5", {"a": 1.5}),
        ("a: .5", {"a": 0.5}),
        ("a: 1.", {"a": 1.0}),
        ("a: yes\nb: off", {"a": True, "b": False}),
        ("a: 'yes'", {"a": "yes"}),
        ('a: "1"', {"a": "1"}),
        ("a: !!str 5", {"a": "5"}),
        ("a: ~\nb:\nc: null", {"a": None, "b": None, "c": None}),
        ("1: a\ntrue: b\n1.5: c", {"1": "a", "true": "b", "1.5": "c"}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        (
            "base: &b {x: 1, z: 2}\nmade: {<<: *b, z: 3}",
            {"base": {"x": 1, "z": 2}, "made": {"x": 1, "z": 3}},
        ),
        ("y: n\nN: 'y'", {"true": False, "false": "y"}),
        ("made:\n  <<: [{x: 1}, {x: 2, z: 3}]", {"made": {"x": 1, "z": 3}}),
        ("a: !!binary aGk=", {"a": "hi"}),
        ("---\na: 1\n", {"a": 1}),
        ("# nothing", None),
        ("", None),
        ("a: 99999999999999999999999", {"a": 1e23}),
        ("a: 1e999", {"a": "1e999"}),
        ("a: " + "9" * 4000, {"a": "9" * 4000}),
        ("a: 0x" + "f" * 100, {"a": "0x" + "f" * 100}),
        ("a: 0x_", {"a": "0x_"}),
        ("a: 0X1F", {"a": 31}),
        ("a: 08", {"a": 8.0}),
        ("a: ! 5", {"a": "5"}),
        ("'<<': 5", {"<<": 5}),
        ("a: &x k\n*x : v", {"a": "k", "k": "v"}),
    ],
)
def test_yaml_means_what_kubernetes_means(text: str, value: Any) -> None:
    assert load_yaml(text.encode())[0] == value


def test_repeated_yaml_keys_are_found_with_their_paths() -> None:
    _, duplicates = load_yaml(b"a: 1\nb:\n- c: 1\n  c: 2\na: 2\n")

    assert duplicates == ("b[0].c", "a")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: [1", "line "),
        (b"a: 1\n b: 2", "line 2"),
        (b"\xff\xfe", "not UTF-8"),
        (b"a: 1\n---\nb: 2", "line 2: expected one document"),
        (b"? [a]\n: b", "a key must be a scalar"),
        (b"~: b", "must not be null"),
        (b"a: !!python/object:os.system x", "unknown tag"),
        (b"a: !mine x", "unknown tag"),
        (b"a: .inf", "json: unsupported value: +Inf"),
        (b"a: -.INF", "json: unsupported value: -Inf"),
        (b"a: !!binary '*'", "not base64"),
        (b"<<: 5", "map merge requires"),
        (b"[" * 5000, ""),
        (b"a: *b", "line 1: unknown anchor 'b' referenced"),
        (b"a: \x01", ""),
        (b"- " * 3000 + b"x", "nested deeper"),
    ],
)
def test_bad_yaml_is_a_decode_error_that_names_the_place(data: bytes, message: str) -> None:
    with pytest.raises(DecodeError) as refused:
        load_yaml(data)

    assert message in str(refused.value)


def test_anchors_cannot_blow_up_a_document() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(DecodeError, match="excessive aliasing"):
        load_yaml("\n".join(lines).encode())


@given(st.binary(max_size=60))
def test_any_bytes_are_yaml_or_a_decode_error(data: bytes) -> None:
    try:
        document = read_yaml(data, True)
    except DecodeError:
        return
    json.loads(document.json)


def test_bytes_are_recognised() -> None:
    assert detect_media_type(b' \n{"a":1}') == JSON
    assert detect_media_type(b"a: 1") == YAML
    assert detect_media_type(b"k8s\x00rest") == PROTOBUF
    assert detect_media_type(b"") == YAML


@given(st.lists(st.binary(min_size=1, max_size=9).map(lambda b: b.replace(b"\n", b"x"))), st.data())
def test_frames_do_not_depend_on_how_the_bytes_arrive(
    lines: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    frames, received = LineFrames(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        received += list(frames.feed(stream[:size]))
        stream = stream[size:]

    assert received == [line for line in lines if line.strip()]
    assert not frames.pending


def test_a_stream_that_ends_in_a_document_is_noticed() -> None:
    frames = LineFrames()

    assert list(frames.feed(b'{"a":1}\n{"b"')) == [b'{"a":1}']
    assert frames.pending


def test_a_frame_cannot_grow_without_bound() -> None:
    frames = LineFrames(limit=10)

    with pytest.raises(DecodeError, match="larger than 10 bytes"):
        for _ in range(3):
            list(frames.feed(b"12345"))


def test_yaml_has_no_stream_form() -> None:
    with pytest.raises(ValueError, match="cannot be streamed"):
        YAML_SERIALIZER.frame(b"{}")


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("", []),
        ("application/json", ["application/json"]),
        ("text/*;q=0.5, */*;q=0.1, application/json", ["application/json", "text/*", "*/*"]),
        ("*/*, application/*, application/json", ["application/json", "application/*", "*/*"]),
        ("application/json;q=0", []),
        ("nonsense, application/json", ["application/json"]),
        ('a/b;x="1,2;3", c/d', ["a/b", "c/d"]),
        ("a/b;q=nan, c/d;q=high", ["c/d"]),
    ],
)
def test_accept_is_read_in_the_order_of_welcome(header: str, names: list[str]) -> None:
    assert [media.name for media in parse_accept(header)] == names


def test_negotiation_offers_what_matches_with_its_parameters() -> None:
    offered = negotiate(
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", [JSON, YAML]
    )

    assert [(one.media_type, one.parameters.get("as")) for one in offered] == [
        (JSON, "Table"),
        (JSON, None),
    ]
    assert negotiate("text/html", [JSON, YAML]) == []
    assert negotiate("", [JSON, YAML])[0].media_type == JSON
    assert negotiate("application/*", [JSON, YAML])[0].media_type == JSON


@given(st.text(max_size=60))
def test_any_header_can_be_negotiated(header: str) -> None:
    negotiate(header, [JSON])
    parse_media_type(header)
