"""Custom resources for the fuzz campaign: definitions that use every feature of a schema."""

from typing import Any, Final

from tests.apiserver.extensions.definitions import SCALE, definition, having

GROUP: Final = "torture.example.io"
FUZZED_GROUP: Final = "fuzzed.example.io"
"""The group of the definitions that the campaign itself writes and spoils."""

_RULES: Final = [
    {"rule": "!has(self.min) || !has(self.max) || self.min <= self.max", "message": "min > max"},
    {"rule": "!has(self.words) || self.words.all(w, w.size() < 100)"},
    {
        "rule": "!has(oldSelf.fixed) || has(self.fixed)",
        "messageExpression": "'was ' + oldSelf.fixed",
    },
]
_TEMPLATE: Final = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
    "x-kubernetes-validations": [{"rule": "self.metadata.name != 'forbidden'"}],
}
_SPEC: Final = {
    "type": "object",
    "required": ["model"],
    "x-kubernetes-validations": _RULES,
    "properties": {
        "model": {"type": "string", "enum": ["a", "b", ""], "default": "a"},
        "number": {"type": "integer", "enum": [1, 2, 3]},
        "choice": {"enum": [1, "a", None, {"x": 1}, [1]], "x-kubernetes-int-or-string": True},
        "min": {"type": "integer", "format": "int32", "minimum": -5, "maximum": 100},
        "max": {"type": "integer", "format": "int64", "multipleOf": 5},
        "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0},
        "port": {"x-kubernetes-int-or-string": True},
        "replicas": {"type": "integer", "default": 1},
        "fixed": {
            "type": "string",
            "maxLength": 20,
            "x-kubernetes-validations": [{"rule": "self == oldSelf"}],
        },
        "code": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$", "minLength": 1},
        "when": {"type": "string", "format": "date-time"},
        "bytes": {"type": "string", "format": "byte"},
        "address": {"type": "string", "format": "ipv4"},
        "words": {
            "type": "array",
            "maxItems": 50,
            "x-kubernetes-list-type": "set",
            "items": {"type": "string", "maxLength": 200},
        },
        "ports": {
            "type": "array",
            "maxItems": 20,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {
                "type": "object",
                "required": ["port"],
                "properties": {
                    "port": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                    "options": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                        "default": {"a": [1, 2, 3], "b": {"c": "d"}},
                    },
                },
            },
        },
        "atomic": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "additionalProperties": {"type": "string", "nullable": True},
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "template": _TEMPLATE,
        "either": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            "not": {"required": ["a", "b"]},
        },
    },
}
_STATUS: Final = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string"}, "status": {"type": "string"}},
            },
        },
    },
}
RACK_SCHEMA: Final = {"type": "object", "properties": {"spec": _SPEC, "status": _STATUS}}
_COLUMNS: Final = [
    {"name": "Model", "type": "string", "jsonPath": ".spec.model"},
    {"name": "Ports", "type": "integer", "jsonPath": ".spec.ports[*].port"},
    {"name": "When", "type": "date", "jsonPath": ".spec.when"},
]
_EXTRAS: Final[dict[str, Any]] = {
    "subresources": {"status": {}, "scale": SCALE},
    "additionalPrinterColumns": _COLUMNS,
    "selectableFields": [{"jsonPath": ".spec.model"}],
}

DEFINITIONS: Final = (
    definition(
        having(RACK_SCHEMA, **_EXTRAS),
        {**having(RACK_SCHEMA, **_EXTRAS), "name": "v1beta1", "storage": False, "deprecated": True},
        plural="racks",
        group=GROUP,
        names={"shortNames": ["rk"], "categories": ["all"]},
    ),
    definition(
        having({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        plural="blobs",
        group=GROUP,
        scope="Cluster",
    ),
)

RACK: Final[dict[str, Any]] = {
    "spec": {
        "model": "b",
        "number": 2,
        "choice": "a",
        "min": 1,
        "max": 50,
        "ratio": 0.5,
        "port": "http",
        "replicas": 3,
        "fixed": "x",
        "code": "a-b",
        "when": "2024-02-29T12:30:45Z",
        "bytes": "YQ==",
        "address": "10.0.0.1",
        "words": ["a", "b"],
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81}],
        "atomic": {"a": "b", "c": None},
        "free": {"x": [1, {"y": None}], "z": 1.5},
        "template": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "labels": {"a": "b"}},
        },
        "either": {"a": "x"},
    },
    "status": {"replicas": 1, "conditions": [{"type": "Ready", "status": "True"}]},
}
BLOB: Final[dict[str, Any]] = {"anything": {"goes": [1, 2.5, None, "x", {"deep": [[[]]]}]}}
