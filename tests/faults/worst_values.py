"""Values for documents that are built to hurt: at the edge of a type, of a size or of a rule.

A value is chosen by the type of the one it replaces, because a document of the right shape gets
past decoding and reaches conversion, validation, field ownership and the store.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.faults.hostile import TEXTS

INTEGERS: Final = (
    *(0, -0, 1, -1, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**53 + 1),
    *(
        2**63 - 1,
        2**63,
        -(2**63),
        -(2**63) - 1,
        2**64 - 1,
        2**64,
        2**64 + 1,
        2**65,
        10**30,
        10**400,
    ),
)
FLOATS: Final = (
    *(0.0, -0.0, 0.1, 1.0, 1.5, 1e16, 2.0**63, 1e22, 1e308, 5e-324, -1e308),
    *(float("nan"), float("inf"), float("-inf")),
)
STRINGS: Final = (
    *TEXTS,
    *("\ud800", "\udfff\ud800", "x\x00y", "\x7f", "\u2028", "\ufeff", "a" * 63, "a" * 64),
    *("a" * 253, "a." * 126, "a" * 1_000, "\U0001f600" * 300, "é" * 253, "İ" * 80, "ß" * 80),
    *("2024-02-30T00:00:00Z", "2024-02-29T24:00:00Z", "0000-00-00T00:00:00Z", "9999-12-31"),
    *("10000-01-01T00:00:00Z", "2024-01-01T00:00:00.123456789123Z", "2024-01-01T00:00:00+99:99"),
    *("1e9999999", "1Ei", "-1m", "0.1n", "1" * 60 + "k", "1E+1E", "+.", "1_0", "0x1p-2"),
    *("0s", "1h1h", "9" * 30 + "h", "-9223372036854775808ns", "1.5.5s"),
    *("kubernetes.io/x", "a/b/c", "/a", "a/", "A.B/c", "x" * 64 + "/y", "*", "**", "$", "~", "-"),
    *("system:masters", "system:serviceaccount:default:x", "default", "kube-system", "0", "null"),
    *("(a+)+$", "[", "(?i)x", "\\p{L}", "a{1,999999}", "^" * 200, "self.x", "1/0", "[1].map(x,x)"),
    *("::1", "1.2.3.4", "256.1.1.1", "1.2.3.4/33", "fe80::%eth0", "http://[", "//x", "urn:x"),
    *("00000000-0000-0000-0000-000000000000", "====", "YQ==", "YQ", "-_-_", "\xff"),
)
KEYS: Final = (
    *("", " ", "a", "name", "metadata", "spec", "status", "items", "kind", "apiVersion", "$patch"),
    *("$retainKeys", "$setElementOrder/x", "$deleteFromPrimitiveList/x", "f:metadata", "k:{}", "."),
    *("__proto__", "__class__", "a" * 400, "\ud800", "\x00", "a/b", "a~b", "~1", "-", "0", "é"),
    *("creationTimestamp", "deletionTimestamp", "managedFields", "ownerReferences", "finalizers"),
)
SIZES: Final = (0, 1, 2, 3, 20, 200)


def worst_value(old: Any, random: Random) -> Any:
    """A value in the place of *old*: mostly of its type, sometimes of another."""
    if random.random() < 0.25:
        return random.choice(_ANY)(random)
    match old:
        case bool():
            return random.choice([True, False, 0, 1, "true", "yes", None])
        case int() | float():
            return random.choice(INTEGERS if random.random() < 0.7 else FLOATS)
        case str():
            return random.choice(STRINGS)
        case list():
            return _list(old, random)
        case dict():
            return _mapping(old, random)
    return random.choice(_ANY)(random)


def spoil(document: Any, random: Random) -> Any:
    """*document* with one place in it replaced, dropped, renamed or added; it shares the rest."""
    if not isinstance(document, dict | list) or not document or random.random() < 0.15:
        return worst_value(document, random)
    if isinstance(document, list):
        at = random.randrange(len(document))
        return [*document[:at], spoil(document[at], random), *document[at + 1 :]]
    changed = dict(document)
    key = random.choice(list(changed))
    chance = random.random()
    if chance < 0.08:
        del changed[key]
    elif chance < 0.12:
        changed[random.choice(KEYS)] = changed.pop(key)
    elif chance < 0.2:
        changed[random.choice(KEYS)] = random.choice(_ANY)(random)
    else:
        changed[key] = spoil(changed[key], random)
    return changed


def nested(depth: int, random: Random) -> Any:
    """A value of that depth, which the encoder of the interpreter can still write."""
    value: Any = random.choice(STRINGS)
    for _ in range(depth):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def _list(old: list[Any], random: Random) -> list[Any]:
    size = random.choice(SIZES)
    match random.randrange(4):
        case 0:
            return (old * size)[:size]
        case 1:
            return [random.choice(_ANY)(random) for _ in range(min(size, 20))]
        case 2:
            return [*old, None, *old]
        case _:
            return [spoil(each, random) for each in (old * 2)[:20]]


def _mapping(old: dict[str, Any], random: Random) -> dict[str, Any]:
    size = random.choice(SIZES)
    match random.randrange(3):
        case 0:
            return {f"key-{number}": random.choice(STRINGS[:60]) for number in range(size)}
        case 1:
            return {random.choice(KEYS): random.choice(_ANY)(random) for _ in range(min(size, 20))}
        case _:
            return {**old, random.choice(KEYS): old}


_ANY: Final[tuple[Callable[[Random], Any], ...]] = (
    lambda _: None,
    lambda _: [],
    lambda _: {},
    lambda random: random.choice([True, False]),
    lambda random: random.choice(INTEGERS),
    lambda random: random.choice(FLOATS),
    lambda random: random.choice(STRINGS),
    lambda random: {random.choice(KEYS): random.choice(STRINGS)},
    lambda random: [random.choice(STRINGS), None, {}, []],
    lambda random: nested(random.choice([2, 5, 50, 190, 205, 300]), random),
)


def hostile_metadata(random: Random) -> dict[str, Any]:
    """A field of the metadata of an object, of the right shape and full of trouble."""
    return random.choice(_METADATA)(random)


def _owner(random: Random) -> dict[str, Any]:
    owner: dict[str, Any] = {
        "apiVersion": random.choice(["v1", "apps/v1", "gadgets.example.io/v1", "a/b/c", ""]),
        "kind": random.choice(["ConfigMap", "Namespace", "Gadget", "Nothing", ""]),
        "name": random.choice(["one", "one-1", "", "a/b"]),
        "uid": random.choice(["1", "2", "00000000-0000-0000-0000-000000000000", ""]),
        "controller": random.choice([True, False, None]),
        "blockOwnerDeletion": random.choice([True, False, None]),
    }
    return owner if random.random() < 0.6 else spoil(owner, random)


def _owned_fields(random: Random, depth: int = 0) -> Any:
    steps = (
        *("f:metadata", "f:spec", "f:data", "f:status", "f:x", ".", "v:1", 'v:"a"', "i:0", "i:-1"),
        *(
            'k:{"name":"a"}',
            'k:{"port":80,"protocol":"TCP"}',
            "k:{",
            "k:[]",
            "i:x",
            "f:",
            "",
            "z:z",
        ),
        *("v:{", "i:99999999999999999999", "k:{}", "f:\ud800"),
    )
    if depth > 3:
        return random.choice([{}, None, 1, [], "x"]) if random.random() < 0.2 else {}
    return {random.choice(steps): _owned_fields(random, depth + 1) for _ in range(3)}


def _managed(random: Random) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": random.choice(["me", "you", "", "a" * 200, "\x00"]),
        "operation": random.choice(["Apply", "Update", "apply", "", "X"]),
        "apiVersion": random.choice(["v1", "gadgets.example.io/v1", "gadgets.example.io/v9", ""]),
        "time": random.choice(["2024-01-01T00:00:00Z", None, "x"]),
        "fieldsType": random.choice(["FieldsV1", "FieldsV1", "FieldsV2", ""]),
        "fieldsV1": _owned_fields(random),
        "subresource": random.choice(["", "status", "scale", "x"]),
    }
    return entry if random.random() < 0.6 else spoil(entry, random)


_METADATA: Final[tuple[Callable[[Random], dict[str, Any]], ...]] = (
    lambda random: {
        "ownerReferences": [_owner(random) for _ in range(random.choice([1, 1, 2, 5, 100]))]
    },
    lambda random: {
        "finalizers": random.choice(
            [
                ["a.io/b"],
                ["foregroundDeletion"],
                ["orphan"],
                ["orphan", "foregroundDeletion"],
                ["x"],
                ["a.io/b"] * 50,
                [""],
                ["kubernetes"],
                [None],
                "a.io/b",
            ]
        )
    },
    lambda random: {"managedFields": [_managed(random) for _ in range(random.choice([1, 3, 15]))]},
    lambda random: {"managedFields": random.choice([[], [{}], None, [None], {}])},
    lambda random: {
        random.choice(["labels", "annotations"]): {
            f"l-{number}.io/x": random.choice(STRINGS) for number in range(random.choice(SIZES))
        }
    },
    lambda random: {random.choice(["labels", "annotations"]): worst_value({"a": "b"}, random)},
    lambda random: {"resourceVersion": random.choice(["1", "0", "", "x", "-1", "9" * 30, 5])},
    lambda random: {"uid": random.choice(["x", "", "1" * 500, 5])},
    lambda random: {"generateName": random.choice(["g-", "", "-", "a" * 300, "A_", 5])},
    lambda random: {"name": random.choice(STRINGS)},
    lambda random: {"namespace": random.choice(["default", "other", "", "kube-system", "x" * 300])},
    lambda random: {
        random.choice(["creationTimestamp", "deletionTimestamp"]): random.choice(STRINGS)
    },
    lambda random: {"deletionGracePeriodSeconds": random.choice(INTEGERS)},
    lambda random: {"generation": random.choice(INTEGERS)},
    lambda random: {random.choice(KEYS): random.choice(_ANY)(random)},
)


def as_text(document: Any) -> bytes:
    """JSON as no encoder of ours would write it: NaN, lone surrogates and huge numbers included."""
    return json.dumps(document).encode()
