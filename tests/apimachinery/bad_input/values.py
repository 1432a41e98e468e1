"""Values: quantities, times, names, selectors and what else is written as one text."""

from apimachinery.meta.types import LabelSelector, LabelSelectorRequirement
from apimachinery.scalars.duration import InvalidDuration, parse_duration
from apimachinery.scalars.intstr import InvalidIntOrString, scaled_value
from apimachinery.scalars.quantity import InvalidQuantity, Quantity
from apimachinery.scalars.time import InvalidTime, parse_micro_time, parse_time
from apimachinery.schema import GroupVersion, InvalidGroupVersion
from apimachinery.selectors import InvalidSelector
from apimachinery.selectors import field_selector as fields
from apimachinery.selectors import label_selector as labels
from tests.apimachinery.bad_input import MILLION, RIGHT_TO_LEFT, SURROGATE, Table

QUANTITIES = Table(
    "quantities",
    Quantity,
    [
        ("", InvalidQuantity, 'invalid quantity ""'),
        (" 1", InvalidQuantity, 'invalid quantity " 1"'),
        ("1 ", InvalidQuantity, 'invalid quantity "1 "'),
        ("1\n", InvalidQuantity, 'invalid quantity "1\\n"'),
        ("\x00", InvalidQuantity, 'invalid quantity "\\x00"'),
        (SURROGATE, InvalidQuantity, 'invalid quantity "\\ud800"'),
        (RIGHT_TO_LEFT + "1", InvalidQuantity, "\\u202e1"),
        ("\u0661", InvalidQuantity, "regular expression"),
        (".", InvalidQuantity, "numeric part"),
        ("+", InvalidQuantity, 'invalid quantity "+"'),
        ("--1", InvalidQuantity, 'invalid quantity "--1"'),
        ("1.1.1", InvalidQuantity, 'invalid quantity "1.1.1"'),
        ("1K", InvalidQuantity, "suffix"),
        ("1mi", InvalidQuantity, "suffix"),
        ("1ki", InvalidQuantity, "suffix"),
        ("1EE", InvalidQuantity, "suffix"),
        ("1e", InvalidQuantity, "suffix"),
        ("1e+", InvalidQuantity, "suffix"),
        ("e5", InvalidQuantity, 'invalid quantity "e5"'),
        ("0x10", InvalidQuantity, 'invalid quantity "0x10"'),
        ("NaN", InvalidQuantity, 'invalid quantity "NaN"'),
        ("inf", InvalidQuantity, 'invalid quantity "inf"'),
        ("1e999999999", InvalidQuantity, "exponents must be between"),
        ("1e-999999999", InvalidQuantity, "exponents must be between"),
        ("1e201", InvalidQuantity, "between -1e200 and 1e200"),
        ("9" * 256, InvalidQuantity, "between -1e200 and 1e200"),
        ("9" * MILLION, InvalidQuantity, "no more than 256 characters"),
        (10**1000, InvalidQuantity, "between -1e200 and 1e200"),
        (float("nan"), InvalidQuantity, 'invalid quantity "nan"'),
        (True, InvalidQuantity, "must be a string or a number"),
        (None, InvalidQuantity, "must be a string or a number"),
    ],
)

INT_OR_STRINGS = Table(
    "int-or-strings",
    lambda value: scaled_value(value, 10, round_up=True),
    [
        ("", InvalidIntOrString, "string is not a percentage"),
        ("5", InvalidIntOrString, "string is not a percentage"),
        ("%", InvalidIntOrString, 'invalid value "%"'),
        ("a%", InvalidIntOrString, 'parsing "a": invalid syntax'),
        ("1.5%", InvalidIntOrString, 'parsing "1.5": invalid syntax'),
        ("1%%", InvalidIntOrString, 'parsing "1%": invalid syntax'),
        ("\u0661%", InvalidIntOrString, "invalid syntax"),
        (SURROGATE + "%", InvalidIntOrString, "\\ud800"),
        ("9" * MILLION + "%", InvalidIntOrString, "value out of range"),
    ],
)

DURATIONS = Table(
    "durations",
    parse_duration,
    [
        ("", InvalidDuration, 'invalid duration ""'),
        ("1", InvalidDuration, 'missing unit in duration "1"'),
        ("1d", InvalidDuration, 'unknown unit "d" in duration "1d"'),
        ("1h2", InvalidDuration, 'missing unit in duration "1h2"'),
        ("s", InvalidDuration, 'invalid duration "s"'),
        (".s", InvalidDuration, 'invalid duration ".s"'),
        ("--1s", InvalidDuration, 'invalid duration "--1s"'),
        ("1 s", InvalidDuration, 'unknown unit " s"'),
        ("\x00", InvalidDuration, 'invalid duration "\\x00"'),
        (SURROGATE, InvalidDuration, "\\xed\\xa0\\x80"),
        ("9223372036854775808ns", InvalidDuration, "invalid duration"),
        ("9" * 1000 + "h", InvalidDuration, "invalid duration"),
        ("1h" * MILLION, InvalidDuration, "no more than 1024 characters"),
    ],
)

TIMES = Table(
    "times",
    parse_time,
    [
        ("", InvalidTime, 'parsing time ""'),
        ("2024-01-01", InvalidTime, 'parsing time "2024-01-01" as RFC 3339'),
        ("2024-01-01T00:00:00", InvalidTime, "as RFC 3339"),
        ("2024-01-01 00:00:00Z", InvalidTime, "as RFC 3339"),
        ("2024-13-01T00:00:00Z", InvalidTime, "month"),
        ("2024-02-30T00:00:00Z", InvalidTime, "day"),
        ("2024-01-01T24:00:00Z", InvalidTime, "hour"),
        ("2024-01-01T00:00:60Z", InvalidTime, "second"),
        ("2024-01-01T00:00:00+24:00", InvalidTime, "time zone offset out of range"),
        ("0000-01-01T00:00:00Z", InvalidTime, "year"),
        ("0001-01-01T00:00:00+23:00", InvalidTime, 'parsing time "0001-01-01T00:00:00+23:00"'),
        ("\u0662024-01-01T00:00:00Z", InvalidTime, "as RFC 3339"),
        ("2024-01-01T00:00:00Z\n", InvalidTime, "as RFC 3339"),
        (SURROGATE, InvalidTime, '"\\ud800"'),
        ("2024-01-01T00:00:00." + "9" * MILLION, InvalidTime, "as RFC 3339"),
    ],
)

MICRO_TIMES = Table(
    "micro times",
    parse_micro_time,
    [
        ("2024-01-01T00:00:00.Z", InvalidTime, "as RFC 3339"),
        ("x" * MILLION, InvalidTime, 'parsing time "xxx'),
    ],
)

GROUP_VERSIONS = Table(
    "group-versions",
    GroupVersion.parse,
    [
        ("a/b/c", InvalidGroupVersion, "unexpected GroupVersion string: a/b/c"),
        ("//", InvalidGroupVersion, "unexpected GroupVersion string: //"),
        ("/" * MILLION, InvalidGroupVersion, "unexpected GroupVersion string: //"),
        (SURROGATE + "/v/v", InvalidGroupVersion, "unexpected GroupVersion string: \\ud800/v/v"),
    ],
)

LABEL_SELECTORS = Table(
    "label selectors",
    labels.parse,
    [
        (",", InvalidSelector, "(at position 0)"),
        ("a,", InvalidSelector, "expected: identifier after ',' (at position 2)"),
        ("a,,b", InvalidSelector, "(at position 2)"),
        ("=a", InvalidSelector, "found '=', expected: !, identifier, or 'end of string'"),
        ("!", InvalidSelector, "(at position 1)"),
        ("!!a", InvalidSelector, "(at position 1)"),
        ("a b", InvalidSelector, "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b=c", InvalidSelector, "found '=', expected: ',' or 'end of string' (at position 3)"),
        ("a==(b)", InvalidSelector, "found '(', expected: identifier (at position 3)"),
        ("a in", InvalidSelector, "expected: '(' (at position 4)"),
        ("a in b", InvalidSelector, "found 'b' expected: '(' (at position 5)"),
        ("a in (", InvalidSelector, "(at position 6)"),
        ("a in (b", InvalidSelector, "expected: ',' or ')' (at position 7)"),
        ("a in (b c)", InvalidSelector, "(at position 8)"),
        ("a in (b,,)", InvalidSelector, "(at position 9)"),
        ("a notin (b", InvalidSelector, "(at position 10)"),
        ("a)", InvalidSelector, "found ')'"),
        ("a>b", InvalidSelector, "the value must be an integer"),
        ("a<1.5", InvalidSelector, "the value must be an integer"),
        ("a>" + "9" * 63, InvalidSelector, "the value must be an integer"),
        ("-a", InvalidSelector, "name part must consist of"),
        ("a/b/c", InvalidSelector, "a valid label key"),
        ("/a", InvalidSelector, "prefix part must be non-empty"),
        ("A.com/a", InvalidSelector, "prefix part"),
        ("k" * 64, InvalidSelector, "name part must be no more than 63 bytes"),
        ("a=" + "v" * 64, InvalidSelector, "must be no more than 63 bytes"),
        ("a=-", InvalidSelector, "values[0][a]: Invalid value"),
        ("a\x00=b", InvalidSelector, '"a\\x00"'),
        (SURROGATE, InvalidSelector, "\\ud800"),
        (RIGHT_TO_LEFT, InvalidSelector, "\\u202e"),
        ("a=" + SURROGATE, InvalidSelector, "values[0][a]"),
        ("a" * MILLION, InvalidSelector, "no more than 32768 characters (at position 32768)"),
        ("(" * 30_000, InvalidSelector, "(at position 0)"),
        ("!" * 30_000, InvalidSelector, "(at position 1)"),
        ("a in (" + "," * 30_000, InvalidSelector, "(at position"),
    ],
)

FIELD_SELECTORS = Table(
    "field selectors",
    fields.parse,
    [
        ("a", InvalidSelector, "can't understand 'a' (at position 0)"),
        ("a=b,c", InvalidSelector, "can't understand 'c' (at position 4)"),
        ("a in (b)", InvalidSelector, "can't understand 'a in (b)'"),
        ("a=b=c", InvalidSelector, "unescaped character in value: 61 (at position 3)"),
        ("a=b\\c", InvalidSelector, "invalid escape sequence: \\c (at position 3)"),
        ("a=b\\", InvalidSelector, "invalid escape sequence: \\ (at position 3)"),
        (SURROGATE, InvalidSelector, "can't understand '\\ud800'"),
        ("a" * MILLION, InvalidSelector, "no more than 32768 characters"),
        ("\\" * 30_000, InvalidSelector, "can't understand"),
    ],
)


def from_api(requirement: tuple[str, str, list[str]]) -> object:
    key, operator, values = requirement
    expression = LabelSelectorRequirement(key=key, operator=operator, values=values)
    return labels.from_label_selector(LabelSelector(match_expressions=[expression]))


API_SELECTORS = Table(
    "selectors of the API",
    from_api,
    [
        (("a", "in", ["b"]), InvalidSelector, '"in" is not a valid label selector operator'),
        (("a", "", []), InvalidSelector, '"" is not a valid label selector operator'),
        (("a", "In", []), InvalidSelector, "values set can't be empty"),
        (("a", "Exists", ["b"]), InvalidSelector, "values set must be empty for exists"),
        (("-", "Exists", []), InvalidSelector, "key: Invalid value"),
        (("a", "In", ["b", "-"]), InvalidSelector, "values[0][a]: Invalid value"),
        (("a", SURROGATE, []), InvalidSelector, '"\\ud800"'),
    ],
)

TABLES = (
    QUANTITIES,
    INT_OR_STRINGS,
    DURATIONS,
    TIMES,
    MICRO_TIMES,
    GROUP_VERSIONS,
    LABEL_SELECTORS,
    FIELD_SELECTORS,
    API_SELECTORS,
)
