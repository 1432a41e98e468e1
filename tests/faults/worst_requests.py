"""The requests of the fuzz campaign: every resource, verb, patch type and encoding, at its worst.

A request is a function of the seed and its number, so one that fails can be sent again. Most of
them are nearly right: an object that passes decoding and validation reaches the parts of the
server that noise never sees, and is changed and deleted by the requests that follow.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import quote

import orjson

from apimachinery.codec import dump_json
from apimachinery.protobuf import NoProtobufForm, ProtobufCodec
from apimachinery.testing.sample_objects import complete_object
from apiserver.endpoint import Endpoint
from apiserver.group import ALL_VERBS, STATUS, Subresource
from apiserver.install import Groups
from tests.faults.hostile import (
    HEADERS,
    MEDIA_TYPES,
    METHODS,
    PARAMETERS,
    PATCHES,
    PROTOBUF,
    TEXTS,
    Request,
    mangled,
)
from tests.faults.requests_at_limits import any_at_limit
from tests.faults.sensible_documents import SENSIBLE
from tests.faults.worst_definitions import FUZZED_GROUP
from tests.faults.worst_values import (
    INTEGERS,
    STRINGS,
    as_text,
    hostile_metadata,
    spoil,
    worst_value,
)

JSON: Final = "application/json"
NAMES: Final = ("one", "one", "one-0", "one-1")
AT_LIMIT: Final = 0.0001
"""How likely a request has the size of a limit: each costs as much as a thousand others."""
FUZZED: Final = f"ones.{FUZZED_GROUP}"
PAGES: Final = (
    *("/", "/version", "/healthz", "/livez/ping", "/readyz", "/metrics", "/api", "/apis", "/x"),
    *("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/apis/gadgets.example.io", "/api/v1"),
    *("/debug/api_priority_and_fairness/dump_queues", "/.well-known/openid-configuration"),
)
WEIGHTS: Final = {
    "create": 30.0,
    "update": 15.0,
    "patch": 25.0,
    "delete": 7.0,
    "get": 6.0,
    "list": 6.0,
    "watch": 3.0,
    "deletecollection": 0.3,
}
USERS: Final = (
    [(b"impersonate-user", b"nobody")],
    [(b"impersonate-user", b"system:anonymous")],
    [(b"impersonate-user", b"system:serviceaccount:default:default")],
    [(b"impersonate-user", b"system:admin"), (b"impersonate-group", b"system:masters")],
    [(b"impersonate-user", b"x"), (b"impersonate-group", b""), (b"impersonate-extra-a%2fb", b"c")],
    [(b"impersonate-group", b"x")],
    [(b"impersonate-user", b"x"), (b"impersonate-uid", b"1" * 300)],
    [(b"authorization", b"Bearer wrong")],
    [(b"authorization", b"Basic eDp5")],
    [(b"authorization", b"Bearer " + b"eyJhbGciOiJub25lIn0." * 3)],
    [(b"authorization", b"")],
)
OPTIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("dryRun", ("All", "All", "all", "")),
    ("fieldManager", ("me", "you", "a" * 129, "\x00")),
    ("fieldValidation", ("Strict", "Warn", "Ignore", "x")),
    ("force", ("true", "false", "x", "")),
    ("propagationPolicy", ("Foreground", "Background", "Orphan", "x")),
    ("orphanDependents", ("true", "false")),
    ("gracePeriodSeconds", ("0", "1", "-1", "9" * 20)),
    ("limit", ("1", "0", "-1", "2", "9" * 20)),
    ("resourceVersion", ("0", "1", "", "x", "999999999", "9" * 30)),
    ("resourceVersionMatch", ("Exact", "NotOlderThan", "x")),
    ("labelSelector", ("a=b", "a in (b,c),d notin (e),!f", "a,,b", "a>1", "a in ()", "a" * 300)),
    ("fieldSelector", ("metadata.name=one", "metadata.namespace!=x", "spec.model=a", "x=y", "==")),
    ("sendInitialEvents", ("true", "false", "x")),
    ("allowWatchBookmarks", ("true", "x")),
    ("timeoutSeconds", ("0", "1", "-1", "9" * 20)),
    ("timeout", ("1s", "0", "-1s", "x", "9" * 20 + "h")),
    ("watch", ("true", "1", "false", "x", "")),
    ("includeObject", ("None", "Metadata", "Object", "x")),
    ("pretty", ("true", "1", "x")),
    (
        "continue",
        ("", "x", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0", "e30", "W10"),
    ),
)
YAMLS: Final = (
    *(b"a: &a [*a]", b"- x", b"--- \n---\n{}", b"!!python/object:os.x {}", b"a: b: c", b"\t"),
    *(
        b"<<: {a: b}\na: c",
        b"<<: [1]",
        b"<<: *x",
        b"? [a, b]\n: c",
        b"? {a: b}\n: c",
        b"a: !!int x",
    ),
    *(b"a: 2001-12-14t21:59:43.10-05:00", b"a: 0o17\nb: 0x1F\nc: 1_000\nd: 190:20:30", b"~: ~"),
    *(
        b"a: .inf\nb: -.INF\nc: .NaN",
        b"yes: no",
        b"1: 2",
        b"1.5: x",
        b"a: !!binary |\n  $$",
        b"%YAML 9",
    ),
    *(
        b"a: 'x\n\n  y'",
        b'a: "\\ud800"',
        b'a: "\\x00"',
        b"a: !!set {b, c}",
        b"a: !!float 1e400",
        b"...",
    ),
    *(
        b"a: &b c\nd: *b\n*b : e",
        b"[" * 300,
        b"{a: " * 300,
        b"- " * 300,
        b"# only a comment",
        b"\xff",
    ),
)


@dataclass(frozen=True)
class Target:
    """One resource in one version."""

    collection: str
    everywhere: str
    """The collection over all namespaces; the same as *collection* if it has none."""
    verbs: tuple[str, ...]
    subresources: tuple[Subresource, ...]
    documents: tuple[dict[str, Any], ...]
    messages: tuple[bytes, ...] = ()
    """The documents as protobuf, if the kind has that form."""
    names: tuple[str, ...] = NAMES


@dataclass
class Targets:
    """Everything that a running server serves, and how to ask for it."""

    all: list[Target] = field(default_factory=list)

    @classmethod
    def of(cls, groups: Groups) -> "Targets":
        served = [target for group in groups for target in _targets(group.versions)]
        return cls([*served, _fuzzed()])

    def request(self, seed: int, number: int) -> Request:
        """The request of that number in the campaign of a seed."""
        random = Random(f"{seed} {number}")
        if random.random() < AT_LIMIT:
            return any_at_limit(random)
        if random.random() < 0.02:
            return Request("GET", random.choice(PAGES), _query(random), _headers("", random), b"")
        target = random.choice(self.all)
        verbs = [verb for verb in target.verbs if verb in WEIGHTS]
        verb = random.choices(verbs, [WEIGHTS[verb] for verb in verbs])[0]
        request = _BUILD[verb](target, random)
        return _spoilt(request, random)


def _targets(versions: dict[str, dict[str, Endpoint]]) -> Iterator[Target]:
    for endpoints in versions.values():
        for name, endpoint in endpoints.items():
            version = str(endpoint.version)
            root = f"/apis/{version}" if endpoint.version.group else f"/api/{version}"
            place = f"{root}/namespaces/default" if endpoint.namespaced else root
            yield Target(
                f"{place}/{name}",
                f"{root}/{name}",
                endpoint.resource.verbs,
                endpoint.resource.subresources,
                *_objects(endpoint),
                names=_names(endpoint),
            )


def _names(endpoint: Endpoint) -> tuple[str, ...]:
    if endpoint.store is None:
        return ("",)
    return (FUZZED,) if endpoint.kind.kind == "CustomResourceDefinition" else NAMES


def _fuzzed() -> Target:
    """The resource whose definition the campaign itself writes."""
    root = f"/apis/{FUZZED_GROUP}/v1"
    document = {
        "apiVersion": f"{FUZZED_GROUP}/v1",
        "kind": "One",
        "metadata": {},
        **SENSIBLE["One"],
    }
    place = f"{root}/namespaces/default/ones"
    return Target(place, f"{root}/ones", ALL_VERBS, (STATUS,), (document,))


def _objects(endpoint: Endpoint) -> tuple[tuple[dict[str, Any], ...], tuple[bytes, ...]]:
    """Documents of a kind, and the same as protobuf if it has that form."""
    kind, version = endpoint.kind.kind, str(endpoint.version)
    head: dict[str, Any] = {"apiVersion": version, "kind": kind}
    head["metadata"] = {"name": "one", "labels": {"a": "b"}}
    sensible = {**SENSIBLE.get(str(endpoint.kind.group_kind), SENSIBLE.get(kind, {})), **head}
    if not endpoint.scheme.recognizes(endpoint.kind):
        return (sensible,), ()
    cls: Any = endpoint.scheme.class_of(endpoint.kind)
    complete = {**orjson.loads(dump_json(complete_object(cls))), **head}
    message = _message(cls, version, kind)
    return (sensible, sensible, sensible, complete), (message,) if message else ()


def _message(cls: Any, version: str, kind: str) -> bytes:
    sample = complete_object(cls)
    sample.metadata.name = "one"
    try:
        return ProtobufCodec().encode(sample, api_version=version, kind=kind)
    except NoProtobufForm:
        return b""


def _document(target: Target, name: str, random: Random) -> dict[str, Any]:
    document = dict(random.choice(target.documents))
    document["metadata"] = {**document["metadata"], "name": name} if name else {}
    if random.random() < 0.2:
        document["metadata"] |= hostile_metadata(random)
    for _ in range(random.choice([0, 0, 0, 1, 1, 2, 5])):
        spoilt = spoil(document, random)
        if isinstance(spoilt, dict) or random.random() < 0.2:
            document = spoilt
        if not isinstance(document, dict):
            break
    return document


def _create(target: Target, random: Random) -> Request:
    path = target.collection
    if any("create" in sub.verbs for sub in target.subresources) and random.random() < 0.3:
        path = _object_path(target, "create", random)
    return _written("POST", path, target, random)


def _update(target: Target, random: Random) -> Request:
    return _written("PUT", _object_path(target, "update", random), target, random)


def _written(method: str, path: str, target: Target, random: Random) -> Request:
    name = _named(target, path) if method == "PUT" else random.choice(target.names)
    if target.messages and random.random() < 0.15:
        return Request(method, path, b"", _typed(PROTOBUF), _torn(target.messages[0], random))
    document = _document(target, name, random)
    if random.random() < 0.1:
        data = random.choice(YAMLS) if random.random() < 0.3 else as_text(document)
        return Request(method, path, b"", _typed("application/yaml"), data)
    return Request(method, path, b"", _typed(JSON), as_text(document))


def _patch(target: Target, random: Random) -> Request:
    path, kind = _object_path(target, "patch", random), random.choice(PATCHES[:4])
    document: Any = _document(target, _named(target, path), random)
    query = b""
    match kind:
        case "application/json-patch+json":
            document = [_operation(random) for _ in range(random.choice([0, 1, 1, 2, 5, 50]))]
        case "application/merge-patch+json" | "application/strategic-merge-patch+json":
            document = _partial(document, random)
        case _:
            query = b"fieldManager=me" + random.choice([b"", b"&force=true"])
    return Request("PATCH", path, query, _typed(kind), as_text(document))


def _partial(document: Any, random: Random) -> Any:
    """A patch of some of the fields, with the directives of strategic merge patches."""
    if not isinstance(document, dict) or random.random() < 0.1:
        return document
    kept = {key: value for key, value in document.items() if random.random() < 0.5}
    if random.random() < 0.3:
        kept |= random.choice(
            [
                {"$patch": random.choice(["replace", "delete", "merge", "x", 1])},
                {"$retainKeys": random.choice([["spec"], ["x", 1], "spec", None, []])},
                {"$setElementOrder/ports": random.choice([[{"port": 80}], [1], None, {}])},
                {"$deleteFromPrimitiveList/finalizers": random.choice([["a"], [1], None, {}])},
                {
                    "metadata": {
                        "$deleteFromPrimitiveList/finalizers": ["a.io/b"],
                        "finalizers": None,
                    }
                },
                {"spec": [{"$patch": "delete"}, {"$patch": "replace"}]},
            ]
        )
    return kept


def _operation(random: Random) -> Any:
    pointers = (
        *("", "/", "/metadata", "/metadata/name", "/metadata/labels/a", "/data/-", "/-", "/a~2"),
        *("x", 1, None, "/0" * 99, "/spec", "/spec/ports/0", "/spec/ports/-", "/spec/ports/00"),
        *("/metadata/finalizers/-", "/metadata/ownerReferences", "/metadata/managedFields/0"),
        *("/spec/replicas", "/status", "/kind", "/apiVersion", "/spec/words/1e0", "/spec/x~1y"),
    )
    return {
        "op": random.choice(["add", "remove", "replace", "move", "copy", "test", "x", None]),
        "path": random.choice(pointers),
        "from": random.choice(pointers),
        "value": worst_value(random.choice([1, "x", [1], {"a": "b"}]), random),
    }


def _delete(target: Target, random: Random) -> Request:
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": random.choice(["Foreground", "Background", "Orphan", "x", None]),
        "preconditions": random.choice([None, {"uid": "x"}, {"resourceVersion": "1"}, {}, 1]),
        "gracePeriodSeconds": random.choice([None, 0, 1, -1, 2**64]),
    }
    body = as_text(spoil(options, random)) if random.random() < 0.5 else b""
    return Request("DELETE", _object_path(target, "delete", random), b"", _typed(JSON), body)


def _delete_collection(target: Target, random: Random) -> Request:
    return Request("DELETE", target.collection, b"", _typed(JSON), b"")


def _get(target: Target, random: Random) -> Request:
    return Request("GET", _object_path(target, "get", random), b"", _typed(""), b"")


def _list(target: Target, random: Random) -> Request:
    path = random.choice([target.collection, target.everywhere])
    return Request("GET", path, b"", _typed(""), b"")


def _watch(target: Target, random: Random) -> Request:
    path = random.choice([target.collection, target.everywhere.replace("/v1", "/v1/watch", 1)])
    query = random.choice(
        [b"watch=1", b"watch=true&resourceVersion=0", b"watch=1&resourceVersion=1"]
    )
    return Request("GET", path, query, _typed(""), b"")


_BUILD: Final[dict[str, Callable[[Target, Random], Request]]] = {
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "get": _get,
    "list": _list,
    "watch": _watch,
    "deletecollection": _delete_collection,
}


def _object_path(target: Target, verb: str, random: Random) -> str:
    path = f"{target.collection}/{random.choice(target.names)}"
    subresources = [sub.name for sub in target.subresources if verb in sub.verbs]
    if subresources and random.random() < 0.3:
        return f"{path}/{random.choice(subresources)}"
    return path


def _named(target: Target, path: str) -> str:
    """The name of the object in a path below the collection."""
    return path.removeprefix(target.collection).split("/")[1]


def _typed(content_type: str) -> list[tuple[bytes, bytes]]:
    head = [(b"host", b"x")]
    return [*head, (b"content-type", content_type.encode())] if content_type else head


def _torn(message: bytes, random: Random) -> bytes:
    """A protobuf message with some of its bytes changed, doubled or gone."""
    data = bytearray(message)
    for _ in range(random.choice([0, 1, 3])):
        at = random.randrange(4, len(data) + 1)
        match random.randrange(4):
            case 0:
                data[at : at + 1] = random.randbytes(1)
            case 1:
                del data[at : at + random.randrange(10)]
            case 2:
                data[at:at] = random.choice([b"\xff" * 10, b"\x08\x01", b"\x0b\x0c", b"\x7a\x00"])
            case _:
                data[at:at] = data[at : at + random.randrange(60)]
    return bytes(data)


def _spoilt(request: Request, random: Random) -> Request:
    """*request* with options, headers, another method, a mangled path or body: now and then."""
    chance = random.random
    if chance() < 0.3:
        request.query = b"&".join(filter(None, (request.query, _query(random))))
    if chance() < 0.1:
        request.headers += _headers("", random)
    if chance() < 0.05:
        request.headers += random.choice(USERS)
    if chance() < 0.02:
        request.method = random.choice(METHODS)
    if chance() < 0.02:
        request.headers[-1] = (
            b"content-type",
            random.choice(MEDIA_TYPES).encode("latin-1", "replace"),
        )
    if chance() < 0.02:
        segments = request.path.split("/")
        segments[random.randrange(1, len(segments))] = random.choice(TEXTS)
        request.path = "/".join(segments)
    if chance() < 0.04:
        request.body = mangled(request.body, random)
    return request


def _query(random: Random) -> bytes:
    pairs = []
    for _ in range(random.choice([1, 1, 2, 4])):
        name, values = random.choice(OPTIONS)
        value = random.choice(values)
        if random.random() < 0.1:
            name, value = random.choice(PARAMETERS), str(random.choice((*STRINGS, *INTEGERS)))[:300]
        pairs.append(f"{name}=".encode() + quote(value.encode("utf-8", "surrogatepass")).encode())
    return b"&".join(pairs)


def _headers(content_type: str, random: Random) -> list[tuple[bytes, bytes]]:
    headers = _typed(content_type)
    if random.random() < 0.7:
        headers.append((b"accept", random.choice(MEDIA_TYPES).encode("latin-1", "replace")))
    for _ in range(random.choice([0, 0, 1, 3])):
        value = random.choice(TEXTS).encode("utf-8", "surrogatepass")
        clean = value.replace(b"\r\n", b" ").replace(b"\x00", b"")
        headers.append((random.choice(HEADERS).encode(), clean))
    return headers
