"""The worst patches, configurations and objects, at the size limit of a request."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from apimachinery.apply import FieldManager, managed_fields, no_other_version
from apimachinery.codec import dump_json
from apimachinery.errors import Invalid
from apimachinery.meta.metadata_validation import validate_object_meta
from apimachinery.meta.types import ObjectMeta
from apimachinery.model.decoding import decode_json
from apimachinery.model.type_shape import Shape
from apimachinery.patch import json_patch, merge_patch, strategic
from apimachinery.schema import GroupKind
from apimachinery.serialization.document_size import MAX_BYTES, MAX_VALUES
from apimachinery.serialization.serializer import write_json_pretty, write_yaml
from apis.core.v1 import ConfigMap, Secret, Service
from apis.core.validation.config_map import validate_config_map
from apis.core.validation.secret import validate_secret
from apis.core.validation.service import validate_service
from tests.apimachinery.apply.apply_shapes import MAP, SCALAR, SET, UNTYPED, keyed, struct
from tests.apimachinery.bad_input.large_documents import (
    CODEC,
    ITEMS,
    KEYS,
    Call,
    Case,
    entry,
    tolerant,
)
from tests.apimachinery.patch.strategic_shapes import POD


def patching(name: str, make: Callable[[int], tuple[Any, Any]], items: int) -> Case:
    """Return the case of a JSON patch: (document, operations)."""
    return Case(f"JSON patch: {name}", lambda n: tolerant(json_patch.apply, *make(n)), items)


def operations(n: int, op: str, path: str, **members: Any) -> list[Any]:
    return [{"op": op, "path": path, **members}] * n


def alternating(n: int) -> list[Any]:
    """Return operations that copy a small value, and then change a long list."""
    return [
        {"op": "copy", "from": "/small", "path": "/copy"},
        {"op": "add", "path": "/list/-", "value": 1},
    ] * (n // 2)


LONG = {"list": [0] * ITEMS, "small": {"a": {}}}

PATCH_CASES = [
    patching("insertions", lambda n: (LONG, operations(n, "add", "/list/0", value=1)), 10_000),
    patching("copies", lambda n: (LONG, alternating(n)), 10_000),
    patching("tests", lambda n: (LONG, operations(n, "test", "/list", value=[0] * 10)), 10_000),
    patching("moves", lambda n: (LONG, operations(n, "move", "/a", **{"from": "/list/0"})), 10_000),
    patching("a long path", lambda n: (LONG, operations(1, "add", "/x" * n)), MAX_BYTES // 2),
    Case(
        "merge patch",
        lambda n: tolerant(
            merge_patch.apply,
            {"a": {f"k{i}": 1 for i in range(n)}},
            {"a": {f"k{i}": None for i in range(n)}},
        ),
        KEYS,
    ),
]


def strategic_case(
    name: str, make: Callable[[int], tuple[Any, Any]], items: int = MAX_VALUES // 6
) -> Case:
    """Return the case of a strategic merge patch: (spec, patch of the spec)."""

    def build(n: int) -> Call:
        spec, patch = make(n)
        return tolerant(strategic.apply, {"spec": spec}, {"spec": patch}, POD)

    return Case(f"strategic merge patch: {name}", build, items)


def named(numbers: Iterable[int], **members: Any) -> list[Any]:
    return [{"name": f"n{number}", **members} for number in numbers]


STRATEGIC_CASES = [
    strategic_case(
        "elements",
        lambda n: (
            {"containers": named(range(n))},
            {"containers": named(range(n, 0, -1), image="i")},
        ),
    ),
    strategic_case(
        "deletions",
        lambda n: (
            {"containers": named(range(n))},
            {"containers": named(range(n), **{"$patch": "delete"})},
        ),
    ),
    strategic_case(
        "order",
        lambda n: (
            {"containers": named(range(n))},
            {
                "containers": named(range(n)),
                "$setElementOrder/containers": named(range(n, 0, -1)),
            },
        ),
    ),
    strategic_case(
        "retained keys",
        lambda n: (
            {"strategy": {f"k{i}": 1 for i in range(n)}},
            {"strategy": {"$retainKeys": [f"k{i}" for i in range(n)], "type": None}},
        ),
    ),
]


def applying(
    name: str, shape: Shape, make: Callable[[int], tuple[Any, Any]], items: int = MAX_VALUES // 6
) -> Case:
    """Return the case of an apply: (live value, applied value) of a field."""

    def build(n: int) -> Call:
        live, applied = make(n)
        manager = FieldManager({"v1": struct({"a": shape}, keeps=True)}, no_other_version, "v1")
        head = {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}}

        def run() -> None:
            stored = manager.update(None, {**head, "a": live}, manager="m1", time="t")
            manager.apply(stored, {**head, "a": applied}, manager="m2", time="t")

        return tolerant(run)

    return Case(f"apply: {name}", build, items)


def nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = {"a": value}
    return value


def _members(n: int, value: Any) -> Any:
    return {f"k{number}": value for number in range(n)}


def _spelling(number: int) -> str:
    """Return one of many spellings of the element of a set."""
    return f"v:{' ' * (number % 50)}1{' ' * (number // 50)}"


APPLY_CASES = [
    applying(
        "a map", MAP, lambda n: ({f"k{i}": 1 for i in range(n)}, {f"k{i}": 2 for i in range(n)})
    ),
    applying("a set", SET, lambda n: (list(range(n)), list(range(n, 0, -1)))),
    applying(
        "a list of objects",
        keyed("name", fields={"name": SCALAR, "value": SCALAR}),
        lambda n: (named(range(n)), named(range(n, 0, -1), value=1)),
        MAX_VALUES // 9,
    ),
    applying("duplicates", SET, lambda n: ([1] * n, [1] * n)),
    applying(
        "a deep value",
        UNTYPED,
        lambda n: (nested(100, {f"k{i}": i for i in range(n)}), nested(100, {"k0": 1})),
    ),
    applying("the wrong type", MAP, lambda n: ({}, [{}] * n)),
    Case(
        "managed fields: managers",
        lambda n: tolerant(
            lambda entries: managed_fields.encode(
                managed_fields.cap_managers(managed_fields.decode(entries))
            ),
            [entry(i) for i in range(n)],
        ),
        MAX_VALUES // 20,
    ),
    Case(
        "managed fields: spellings of one value",
        lambda n: tolerant(
            managed_fields.decode,
            [
                entry(
                    0,
                    fieldsV1={
                        f"v:{' ' * (i % 50)}1{' ' * (i // 50)}": {f"f:{i}": {}} for i in range(n)
                    },
                )
            ],
        ),
        KEYS // 10,
    ),
]


def validating(
    name: str, validate: Callable[..., Any], make: Callable[[int], Any], items: int
) -> Case:
    """Return the case of a validation whose errors become the response."""

    def respond(obj: Any) -> None:
        error = Invalid.of(GroupKind("", "K"), "x", validate(obj))
        dump_json(error.status)

    return Case(f"validation: {name}", lambda n: tolerant(respond, make(n)), items)


def _owners(n: int) -> ObjectMeta:
    owner = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": True}
    return decode_json(ObjectMeta, orjson.dumps({"ownerReferences": [owner] * n})).object


def _validate_meta(meta: ObjectMeta) -> Iterator[Any]:
    return validate_object_meta(meta, namespaced=False)


VALIDATION_CASES = [
    validating(
        "data keys",
        validate_config_map,
        lambda n: ConfigMap(data={f"?{i}": "" for i in range(n)}),
        KEYS,
    ),
    validating("owners", _validate_meta, _owners, MAX_VALUES // 11),
    validating(
        "labels",
        _validate_meta,
        lambda n: ObjectMeta(labels={f"?{i}": "?" for i in range(n)}),
        KEYS,
    ),
    validating("a name", _validate_meta, lambda n: ObjectMeta(name="a-" * n), MAX_BYTES // 2),
    validating(
        "a label key", _validate_meta, lambda n: ObjectMeta(labels={"/" * n: ""}), MAX_BYTES
    ),
    validating(
        "an address",
        validate_service,
        lambda n: Service.model_validate({"spec": {"externalIPs": ["1." * n]}}),
        MAX_BYTES // 2,
    ),
    validating(
        "a docker configuration",
        validate_secret,
        lambda n: Secret(
            type="kubernetes.io/dockerconfigjson",
            data={".dockerconfigjson": b"[" + b"{}," * n + b"{}]"},
        ),
        1024 * 1024 // 3 - 10,
    ),
]


def _shuffled(n: int) -> ConfigMap:
    """Return a config map whose keys have to be sorted."""
    return ConfigMap(data={f"{number * 2_654_435_761 % 2**32:x}": "" for number in range(n)})


def encoding(name: str, encode: Callable[[ConfigMap], object]) -> Case:
    return Case(f"encoding: {name}", lambda n: tolerant(encode, _shuffled(n)), KEYS)


def _to_protobuf(obj: ConfigMap) -> bytes:
    return CODEC.protobuf.encode(obj, api_version="v1", kind="ConfigMap")


ENCODING_CASES = [
    encoding("JSON", dump_json),
    encoding("protobuf", _to_protobuf),
    encoding("YAML", lambda obj: write_yaml(dump_json(obj))),
    encoding("pretty JSON", lambda obj: write_json_pretty(dump_json(obj))),
    encoding("a copy", ConfigMap.deep_copy),
    validating("shuffled keys", validate_config_map, _shuffled, KEYS),
]

CASES = (*PATCH_CASES, *STRATEGIC_CASES, *APPLY_CASES, *VALIDATION_CASES, *ENCODING_CASES)
