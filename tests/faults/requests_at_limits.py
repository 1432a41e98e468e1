"""Requests at the size limits of every parser, patch, validation, selector and admission step.

Each is as large as the server accepts, or just beyond, in the shape that costs most for its size.
They are built when they are used: together they have hundreds of megabytes.
"""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from apimachinery.serialization.document_size import MAX_VALUES
from tests.apiserver.extensions.definitions import DEFINITIONS, definition, having
from tests.faults.hostile import PROTOBUF, Request
from tests.faults.worst_definitions import GROUP, RACK

CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
ONE: Final = f"{CONFIG_MAPS}/one"
RACKS: Final = f"/apis/{GROUP}/v1/namespaces/default/racks"
ROLES: Final = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
JSON: Final = "application/json"
YAML: Final = "application/yaml"
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
MIB: Final = 1024 * 1024
LARGEST: Final = 3 * MIB - 2_000
"""Bytes of a body that the limit just lets pass, with some room for the rest of the document."""
VALUES: Final = MAX_VALUES - 1_000
"""Values of a document that the limit just lets pass."""
KEYS: Final = VALUES // 2
"""Keys of an object with short values."""

Build = Callable[[], Request]


def _request(
    method: str, path: str, body: bytes | Any = b"", kind: str = JSON, query: str = ""
) -> Request:
    data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
    headers = [(b"host", b"x"), (b"content-type", kind.encode())]
    return Request(method, path, query.encode(), headers, data)


def _config_map(**parts: Any) -> dict[str, Any]:
    metadata = {"name": "at-limit", **parts.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **parts}


def _filled(piece: bytes, *, before: bytes, after: bytes, size: int = LARGEST) -> bytes:
    """As many pieces, with commas between them, as fit into *size*."""
    return before + b",".join([piece] * (size // (len(piece) + 1))) + after


def _numbered(count: int, template: str) -> str:
    return ",".join(template % number for number in range(count))


def _create_config_map(body: Any, kind: str = JSON) -> Build:
    return lambda: _request("POST", CONFIG_MAPS, body() if callable(body) else body, kind)


def owner_references(count: int) -> Build:
    """A config map with that many different owners."""
    owners = '{"apiVersion":"v1","kind":"ConfigMap","name":"o%d","uid":"%d"}'
    text = ",".join(owners % (number, number) for number in range(count))
    head = b'{"metadata":{"name":"at-limit","ownerReferences":['
    return lambda: _request("POST", CONFIG_MAPS, head + text.encode() + b"]}}", query="dryRun=All")


def flow_yaml(piece: bytes = b"{}", size: int = 2_800_000) -> Build:
    """A config map in flow-style YAML."""
    head = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: at-limit}, x: ["
    return lambda: _request(
        "POST", CONFIG_MAPS, _filled(piece, before=head, after=b"]}", size=size), YAML
    )


def _keys(count: int, template: str, field: str = "data") -> Build:
    def build() -> Request:
        entries = _numbered(count, template).encode()
        if field in ("labels", "annotations"):
            head = b'{"metadata":{"name":"at-limit","%s":{' % field.encode()
            return _request("POST", CONFIG_MAPS, head + entries + b"}}}")
        head = b'{"metadata":{"name":"at-limit"},"%s":{' % field.encode()
        return _request("POST", CONFIG_MAPS, head + entries + b"}}")

    return build


def _unknown(piece: bytes, values: int = 0) -> Build:
    """A config map with a list of that piece: as long as the body may be, or of so many values."""
    head = b'{"metadata":{"name":"at-limit"},"unknown":['
    size = (
        min(LARGEST, values * (len(piece) + 1) // max(1, piece.count(b"[") + piece.count(b"{")))
        if values
        else LARGEST
    )
    return lambda: _request(
        "POST", CONFIG_MAPS, _filled(piece, before=head, after=b"]}", size=size)
    )


def _patched(kind: str, body: Callable[[], bytes | Any], path: str = ONE, query: str = "") -> Build:
    return lambda: _request("PATCH", path, body(), kind, query)


def _operations(count: int, operation: dict[str, Any], *first: dict[str, Any]) -> Build:
    return _patched(JSON_PATCH, lambda: [*first, *([operation] * count)])


def _definition(schema: dict[str, Any], **fields: Any) -> Build:
    body = definition(having(schema, **fields), plural="ones", group="fuzzed.example.io")
    return lambda: _request("POST", DEFINITIONS, body, query="dryRun=All")


def _rack(**spec: Any) -> Build:
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Rack",
        "metadata": {"name": "at-limit"},
        "spec": {**RACK["spec"], **spec},
    }
    return lambda: _request("POST", RACKS, body)


def _listed(**query: str) -> Build:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return lambda: _request("GET", CONFIG_MAPS, query=text)


def _headed(*headers: tuple[bytes, bytes]) -> Build:
    def build() -> Request:
        request = _request("GET", CONFIG_MAPS)
        request.headers += headers
        return request

    return build


def _schema_of(count: int) -> dict[str, Any]:
    properties = {f"p{number}": {"type": "string"} for number in range(count)}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


def posted(path: str, body: Any) -> Request:
    """The creation of an object."""
    return _request("POST", path, body)


def doubling(times: int) -> dict[str, Any]:
    """A schema with a rule that doubles a value that many times."""
    rule = "[1]" + ".map(x, x + x)" * times + ".size() > 0"
    return {"type": "object", "x-kubernetes-validations": [{"rule": rule}], "properties": {}}


def _deep_schema(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def documents() -> Iterator[tuple[str, Build]]:
    """Bodies of creations, by name: parsing, decoding, validation and field ownership."""
    yield "8,000 owner references", owner_references(8_000)
    yield "30,000 owner references", owner_references(30_000)
    yield "a million empty objects", _unknown(b"{}")
    yield "a million numbers", _unknown(b"1")
    yield "empty objects", _unknown(b"{}", VALUES // 2)
    yield "empty lists of lists", _unknown(b"[[],[]]", VALUES)
    yield "numbers", _unknown(b"1", VALUES)
    yield "floats", _unknown(b"1.2345678901234567e-300")
    yield "strings with escapes", _unknown(b'"\\u0000\\ud83d\\ude00"')
    yield "documents of depth 190", _unknown(b"[" * 185 + b"]" * 185)
    yield "too deep", _create_config_map(b"[" * (LARGEST // 2) + b"]" * (LARGEST // 2))
    yield "one long number", _create_config_map(b'{"unknown":' + b"9" * LARGEST + b"}")
    yield "one long string", _create_config_map({**_config_map(), "data": {"a": "x" * LARGEST}})
    yield "250,000 keys", _keys(250_000, '"k%d":""')
    yield "keys", _keys(KEYS, '"k%d":""')
    yield "100,000 invalid keys", _keys(KEYS, '"k/ %d":""')
    yield "repeated keys", _keys(KEYS, '"k":"%d"')
    yield "invalid labels", _keys(KEYS, '"!%d":"!"', "labels")
    yield "labels", _keys(KEYS, '"l%d":"v"', "labels")
    yield "annotations", _keys(KEYS, '"a%d.io/x":"v"', "annotations")
    yield "unknown fields", _keys(KEYS, '"u%d":1', "unknown")
    yield "invalid base64", _keys(KEYS, '"k%d":"?"', "binaryData")
    finalizers = [f"example.io/f{number}" for number in range(VALUES)]
    yield "finalizers", _create_config_map(_config_map(metadata={"finalizers": finalizers}))
    managed = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entries = [{**managed, "manager": f"m{n}", "fieldsV1": {"f:data": {}}} for n in range(17_000)]
    yield (
        "field managers",
        _create_config_map(_config_map(metadata={"managedFields": entries})),
    )
    owned: dict[str, Any] = {"f:data": {f"f:k{number}": {} for number in range(VALUES // 3)}}
    yield (
        "owned fields",
        _create_config_map(
            _config_map(metadata={"managedFields": [{**managed, "fieldsV1": owned}]})
        ),
    )
    secret = {"metadata": {"name": "at-limit"}, "stringData": {f"k{n}": "" for n in range(KEYS)}}
    yield (
        "strings of a secret",
        lambda: _request("POST", CONFIG_MAPS.replace("configmaps", "secrets"), secret),
    )


def yaml_documents() -> Iterator[tuple[str, Build]]:
    """The same for YAML, whose parser is slower by far."""
    yield "flow-style YAML", flow_yaml()
    yield "flow-style YAML of allowed size", flow_yaml(size=3 * KEYS)
    yield "flow-style YAML of numbers", flow_yaml(b"1")
    yield "flow-style YAML of pairs", flow_yaml(b"a: b")
    yield (
        "block-style YAML",
        lambda: _request("POST", CONFIG_MAPS, b"x:\n" + b"- a\n" * VALUES, YAML),
    )
    yield (
        "YAML of empty lines",
        lambda: _request("POST", CONFIG_MAPS, b"x: 1\n" + b"\n" * LARGEST, YAML),
    )
    yield (
        "a long YAML scalar",
        lambda: _request("POST", CONFIG_MAPS, b"x: " + b"a " * (LARGEST // 2), YAML),
    )
    yield "YAML anchors", flow_yaml(b"&a {}")
    yield (
        "YAML aliases",
        lambda: _request("POST", CONFIG_MAPS, b"x: &a [1]\ny: [" + b"*a," * 900_000 + b"1]", YAML),
    )
    yield (
        "YAML comments",
        lambda: _request("POST", CONFIG_MAPS, b"x: 1\n" + b"#\n" * (LARGEST // 2), YAML),
    )
    yield "deep YAML", lambda: _request("POST", CONFIG_MAPS, b"[" * 1_000_000, YAML)
    yield "applied YAML", _patched(APPLY_PATCH, lambda: flow_yaml()().body, query="fieldManager=me")


def patches() -> Iterator[tuple[str, Build]]:
    """Patches of a config map that exists."""
    array = {"op": "add", "path": "/metadata/finalizers", "value": ["x"] * (VALUES - 80_000)}
    yield (
        "10,000 insertions",
        _operations(9_900, {"op": "add", "path": "/metadata/finalizers/0", "value": "y"}, array),
    )
    yield (
        "10,000 removals",
        _operations(9_900, {"op": "remove", "path": "/metadata/finalizers/0"}, array),
    )
    yield (
        "10,000 tests of a large value",
        _operations(9_900, {"op": "test", "path": "/metadata/finalizers", "value": []}, array),
    )
    large = {"op": "add", "path": "/data", "value": {f"k{number}": "" for number in range(55_000)}}
    yield (
        "10,000 tests of a large object",
        _operations(9_900, {"op": "test", "path": "/data", "value": {}}, large),
    )
    yield (
        "10,000 copies",
        _operations(9_900, {"op": "copy", "from": "/metadata", "path": "/data/x"}),
    )
    yield (
        "10,000 copies that double",
        _operations(9_900, {"op": "copy", "from": "/data", "path": "/data/x"}),
    )
    yield "10,000 moves", _operations(9_900, {"op": "move", "from": "/data", "path": "/data2"})
    yield "long pointers", _operations(90, {"op": "add", "path": "/a" * 15_000, "value": 1})
    yield (
        "more operations than allowed",
        _operations(20_000, {"op": "test", "path": "", "value": 1}),
    )
    keys = {"data": {f"k{number}": "" for number in range(KEYS)}}
    yield "merge patch", _patched(MERGE_PATCH, lambda: keys)
    yield (
        "merge patch of nulls",
        _patched(MERGE_PATCH, lambda: {"data": dict.fromkeys(keys["data"])}),
    )
    yield "strategic patch", _patched(STRATEGIC_PATCH, lambda: keys)
    owners = [{"uid": f"{number}", "name": "x"} for number in range(VALUES // 5)]
    yield (
        "strategic patch of a list of maps",
        _patched(STRATEGIC_PATCH, lambda: {"metadata": {"ownerReferences": owners}}),
    )
    order = {"$setElementOrder/ownerReferences": [{"uid": o["uid"]} for o in owners[:30_000]]}
    yield (
        "strategic patch with an order",
        _patched(
            STRATEGIC_PATCH, lambda: {"metadata": {**order, "ownerReferences": owners[:6_000]}}
        ),
    )
    removed = {"$deleteFromPrimitiveList/finalizers": [f"f{n}" for n in range(VALUES)]}
    yield (
        "strategic patch of a list of strings",
        _patched(STRATEGIC_PATCH, lambda: {"metadata": removed}),
    )
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, **keys}
    yield "apply", _patched(APPLY_PATCH, lambda: applied, query="fieldManager=me&force=true")
    yield "apply again", _patched(APPLY_PATCH, lambda: applied, query="fieldManager=you&force=true")
    yield (
        "apply with conflicts",
        _patched(
            APPLY_PATCH,
            lambda: {**applied, "data": dict.fromkeys(keys["data"], "z")},
            query="fieldManager=they",
        ),
    )


def custom_resources() -> Iterator[tuple[str, Build]]:
    """Definitions with large schemas, and objects that make validation work."""
    yield "20,000 properties", _definition(_schema_of(20_000))
    yield "a deep schema", _definition(_deep_schema(150))
    yield "a rule that doubles", _definition(doubling(20))
    yield (
        "a long rule",
        _definition(
            {**doubling(0), "x-kubernetes-validations": [{"rule": "1==1" + "&&1==1" * 9_000}]}
        ),
    )
    yield (
        "1,000 rules",
        _definition({**doubling(0), "x-kubernetes-validations": [{"rule": "1==1"}] * 1_000}),
    )
    yield (
        "a large enum",
        _definition(
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string", "enum": [f"e{n}" for n in range(VALUES - 100)]}
                },
            }
        ),
    )
    yield (
        "a large default",
        _definition(
            {"type": "object", "properties": {"a": {"type": "string", "default": "x" * 2_000_000}}}
        ),
    )
    yield (
        "a long pattern",
        _definition(
            {
                "type": "object",
                "properties": {"a": {"type": "string", "pattern": "(a{1,1000}){1,1000}" * 100}},
            }
        ),
    )
    columns = [{"name": f"c{n}", "type": "string", "jsonPath": ".a" * 50} for n in range(5_000)]
    yield "5,000 columns", _definition(_schema_of(1), additionalPrinterColumns=columns)
    yield "a set of words", _rack(words=[f"w{number}" for number in range(50)])
    yield "more words than allowed", _rack(words=["w"] * (VALUES - 100))
    yield "more ports than allowed", _rack(ports=[{"port": n} for n in range(VALUES // 3 - 100)])
    yield "a large free object", _rack(free={f"k{n}": {} for n in range(VALUES // 3)})
    yield "unknown fields of a rack", _rack(**{f"u{n}": 1 for n in range(KEYS - 100)})
    yield "a large atomic map", _rack(atomic={f"k{n}": None for n in range(KEYS - 100)})
    yield "a large template", _rack(template={**RACK["spec"]["template"], "x": [{}] * (KEYS - 100)})


def queries() -> Iterator[tuple[str, Build]]:
    """Selectors, options and headers."""
    yield (
        "a label selector of 32 KiB",
        _listed(labelSelector=",".join(f"a{n}=b" for n in range(4_000))),
    )
    yield (
        "a set of 32 KiB",
        _listed(labelSelector=f"a in ({','.join(f'v{n}' for n in range(4_500))})"),
    )
    yield "a selector of commas", _listed(labelSelector="," * 32_000)
    yield "a selector of negations", _listed(labelSelector="!" * 32_000)
    yield (
        "a field selector of 32 KiB",
        _listed(fieldSelector=",".join(["metadata.name!=a"] * 1_800)),
    )
    yield "a selector beyond the limit", _listed(labelSelector="a=b," * 15_000)
    yield "1,000 parameters", _listed(**{f"p{n}": "x" * 50 for n in range(1_000)})
    yield "20,000 parameters", lambda: _request("GET", CONFIG_MAPS, query="a&" * 20_000)
    yield (
        "an encoded query",
        lambda: _request("GET", CONFIG_MAPS, query="labelSelector=" + "%41" * 20_000),
    )
    yield "a long continue token", _listed(**{"continue": "e" * 60_000})
    yield "a long path", lambda: _request("GET", "/api/v1" + "/x" * 30_000)
    yield "a long accept header", _headed((b"accept", b"a/b;q=0.5," * 6_000))
    yield "a long token", _headed((b"authorization", b"Bearer " + b"a." * 30_000))
    yield (
        "200 groups",
        _headed((b"impersonate-user", b"x"), *[(b"impersonate-group", b"g" * 300)] * 190),
    )


def reviews_and_roles() -> Iterator[tuple[str, Build]]:
    """Authorization, role escalation checks, token reviews, protobuf and deletions."""
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    role = {"metadata": {"name": "at-limit"}, "rules": [rule] * (VALUES // 10)}
    yield "rules", lambda: _request("POST", ROLES, role)
    wide = {
        "apiGroups": [f"g{n}" for n in range(300)],
        "resources": [f"r{n}" for n in range(300)],
        "verbs": ["get"],
    }
    yield (
        "a wide rule",
        lambda: _request("POST", ROLES, {"metadata": {"name": "at-limit"}, "rules": [wide]}),
    )
    subjects = [
        {"kind": "User", "name": f"u{n}", "apiGroup": "rbac.authorization.k8s.io"}
        for n in range(VALUES // 7)
    ]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {"metadata": {"name": "at-limit"}, "roleRef": reference, "subjects": subjects}
    yield (
        "subjects",
        lambda: _request("POST", ROLES.replace("roles", "rolebindings"), binding),
    )
    access = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    spec = {
        "user": "x",
        "groups": [f"g{n}" for n in range(VALUES - 100)],
        "nonResourceAttributes": {"path": "/", "verb": "get"},
    }
    yield "groups", lambda: _request("POST", access, {"spec": spec})
    extra = {f"k{n}": [""] for n in range(KEYS)}
    yield (
        "extras",
        lambda: _request("POST", access, {"spec": {**spec, "groups": [], "extra": extra}}),
    )
    tokens = "/apis/authentication.k8s.io/v1/tokenreviews"
    yield (
        "a token of 3 MB",
        lambda: _request("POST", tokens, {"spec": {"token": "a." * (LARGEST // 2)}}),
    )
    head = b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12"
    entry = b"\x12\x04\x0a\x00\x12\x00"
    message = entry * (LARGEST // len(entry))
    size = len(message)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
    yield (
        "protobuf map entries",
        lambda: _request("POST", CONFIG_MAPS, head + length + message, PROTOBUF),
    )
    yield (
        "protobuf of unknown fields",
        lambda: _request("POST", CONFIG_MAPS, b"k8s\x00" + b"\x78\x01" * (LARGEST // 2), PROTOBUF),
    )
    yield "delete options", lambda: _request("DELETE", f"{CONFIG_MAPS}/none", {"x": [{}] * KEYS})


PARTS: Final[dict[str, Callable[[], Iterator[tuple[str, Build]]]]] = {
    "documents": documents,
    "YAML": yaml_documents,
    "patches": patches,
    "custom resources": custom_resources,
    "queries": queries,
    "reviews and roles": reviews_and_roles,
}


def all_at_limits() -> dict[str, Build]:
    """Every request at a limit, by its name."""
    return {name: build for part in PARTS.values() for name, build in part()}


def any_at_limit(random: Random) -> Request:
    """One of them; it is built anew, and nothing of the others is kept."""
    _, build = random.choice(list(random.choice(list(PARTS.values()))()))
    return build()
