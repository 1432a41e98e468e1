"""What comes with custom resources: their documents and stored bytes, paths, patterns, rules."""

from apimachinery.cel.program import EvaluationError, InvalidExpression, Program
from apimachinery.codec import CorruptObject, FieldValidation, MissingKind, StrictDecodeError
from apimachinery.model.decoding import DecodeError
from apimachinery.schema import GroupVersion
from apimachinery.structural import Schema
from apimachinery.structural.custom_kind import CustomCodec, CustomKind, CustomStorageCodec
from apimachinery.structural.jsonpath import InvalidJSONPath, parse_path
from apimachinery.structural.patterns import InvalidPattern, compile_pattern
from tests.apimachinery.bad_input import Table

KIND = CustomKind("example.io", "Widget", {"v1": Schema({"type": "object"})}, "v1")
CODEC = CustomCodec(KIND)
STORED = CustomStorageCodec(KIND, CODEC, "v1")
WIDGET = GroupVersion("example.io", "v1").with_kind("Widget")
HEAD = b'{"apiVersion":"example.io/v1","kind":"Widget"'
MANY = list(range(200))


def strict(data: bytes) -> object:
    return CODEC.decode(data, expected=WIDGET, validation=FieldValidation.STRICT)


def matched(pattern: str) -> bool:
    """A pattern on a text that is hard for engines that go back."""
    assert not compile_pattern(pattern)("a" * 50_000 + "!")
    raise InvalidPattern("it does not match")


def evaluated(rule: str) -> object:
    return Program(rule, result="bool").evaluate({"a": [1, 2]})


TABLES = (
    Table(
        "custom resources",
        strict,
        [
            (b"", DecodeError, "Expecting value"),
            (b"[]", DecodeError, "not an object"),
            (b"{}", MissingKind, "Object 'Kind' is missing"),
            (b'{"kind":1}', DecodeError, "must be strings"),
            (b'{"kind":"Widget","apiVersion":"a/b/c"}', DecodeError, "a/b/c"),
            (HEAD + b',"metadata":[]}', DecodeError, "cannot unmarshal array"),
            (HEAD + b',"metadata":{"name":1}}', DecodeError, "ObjectMeta.name"),
            (HEAD + b',"a":1}', StrictDecodeError, 'unknown field "a"'),
            (HEAD + b',"kind":"Widget"}', StrictDecodeError, 'duplicate field "kind"'),
            (HEAD + b',"a":NaN}', DecodeError, "a"),
            (HEAD + b',"a":' + b"[" * 100_000, DecodeError, "nested deeper"),
            (HEAD + b',"a":"\xff"}', DecodeError, "u"),
        ],
    ),
    Table(
        "stored custom resources",
        STORED.decode,
        [
            (b"", CorruptObject, "not readable"),
            (b"[]", CorruptObject, "not readable"),
            (b'{"kind":"Widget"}', CorruptObject, "apiVersion"),
            (HEAD + b',"metadata":{"name":1}}', CorruptObject, "ObjectMeta.name"),
        ],
    ),
    Table(
        "JSON paths",
        parse_path,
        [
            ("a", InvalidJSONPath, "'a'"),
            (".a[", InvalidJSONPath, "'['"),
            (".a[99999999999]", InvalidJSONPath, "99999999999"),
            (".a[?(@.b==x y)]", InvalidJSONPath, "[?"),
            (".a" + "[" * 10_000, InvalidJSONPath, "["),
        ],
    ),
    Table(
        "patterns",
        matched,
        [
            ("[", InvalidPattern, "missing closing ]: `[`"),
            ("(?<=a)b", InvalidPattern, "error parsing regexp"),
            (r"(a)\1", InvalidPattern, "invalid escape sequence"),
            ("(" * 10_000, InvalidPattern, "error parsing regexp"),
            ("a{1001}", InvalidPattern, "invalid repeat count"),
            ("^(a+)+$", InvalidPattern, "it does not match"),
            ("^(a|a)*$", InvalidPattern, "it does not match"),
        ],
    ),
    Table(
        "rules",
        evaluated,
        [
            ("", InvalidExpression, "compilation failed"),
            ("self.", InvalidExpression, "compilation failed"),
            ("self.a", EvaluationError, "of type"),
            ("self.b == 1", EvaluationError, "b"),
            ("'a' + 1 == 'b'", InvalidExpression, "no matching overload"),
            ("nothing(self)", InvalidExpression, "undeclared reference"),
            ("(" * 10_000, InvalidExpression, "compilation failed"),
            ("self.a[5] == 1", EvaluationError, "index"),
            (f"{MANY}.all(x, {MANY}.all(y, true))", EvaluationError, "budget exceeded"),
        ],
    ),
)
