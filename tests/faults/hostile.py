"""Requests that nobody should send, made from those that somebody could.

Each begins as a sensible request to a route that discovery tells of, and is then spoilt in a few
places: noise alone never gets past the first check, a request that is almost right gets far. The
same seed makes the same request.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from urllib.parse import quote

from apimachinery.codec import dump_json
from apiserver.group import Group, Resource
from tests.apis.filled import filled
from tests.apiserver.http.test_rest_conformance import CONTENT

METHODS: Final = (
    *("GET", "POST", "PUT", "PATCH", "DELETE"),
    *("HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X"),
)
PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
)
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
MEDIA_TYPES: Final = (
    *("application/json", "application/yaml", PROTOBUF, *PATCHES),
    *("", "*/*", "text/plain", "application", "/", ";", "application/json; charset=latin-1"),
    *("application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v9;g=x"),
    *("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "a/b;q=2, c/d;q=x"),
    *("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",),
    *("application/json;stream=watch", f"{PROTOBUF};stream=watch", "\xff\xfe", '";",'),
    *("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "a/b," * 200),
)
HEADERS: Final = (
    *("accept-encoding", "accept-language", "audit-id", "connection", "content-encoding"),
    *("content-length", "cookie", "expect", "if-match", "if-none-match", "impersonate-user"),
    *("impersonate-group", "impersonate-uid", "impersonate-extra-x", "origin", "range"),
    *("transfer-encoding", "upgrade", "user-agent", "x-forwarded-for", "x-remote-user"),
    *("x-source", "authorization", "host", "te", "traceparent"),
)
PARAMETERS: Final = (
    *("allowWatchBookmarks", "continue", "dryRun", "exclude", "export", "fieldManager"),
    *("fieldSelector", "fieldValidation", "force", "gracePeriodSeconds", "hash", "includeObject"),
    *("labelSelector", "limit", "orphanDependents", "pretty", "propagationPolicy"),
    *("resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeout"),
    *("timeoutSeconds", "verbose", "watch", "", "x"),
)
TEXTS: Final = (
    *("", " ", "0", "-1", "1", "true", "false", "null", "NaN", "1e400", "0x10", "1_000", "\u0661"),
    *("9" * 19, "9" * 400, "-" + "9" * 19, "1s", "-1s", "1.5h", "99999999h", "1us"),
    *("All", "Strict", "Warn", "Ignore", "Exact", "NotOlderThan", "Orphan", "Foreground"),
    *("Background", "Metadata", "Object", "None", "a=b", "a!=b", "a in (b,c)", "!a", "a in (b"),
    *("a>1", "a=b,,c", "metadata.name=one", "metadata.namespace=x", "status.phase=x", "=", "a=\\"),
    *("one", "default", "A_B", "-a", "a" * 254, "a/b/c", "../..", "..", ".", "%", "%00", "\x00"),
    *("\r\nx: y", "\ud800", "\uffff", "\U0001f600", "e\u0301", "\u202e", "<&>", "'\"", "{}", "[]"),
    *("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0", "k8s\x00", "a" * 5000),
)
VALUES: Final[tuple[Callable[[Random], Any], ...]] = (
    lambda _: None,
    lambda _: [],
    lambda _: {},
    lambda random: random.choice([True, False]),
    lambda random: random.choice([0, -1, 2**31, 2**63, -(2**63) - 1, 10**400, 1.5, 1e308]),
    lambda random: random.choice(TEXTS),
    lambda random: {random.choice(TEXTS): random.choice(TEXTS)},
    lambda random: [random.choice(TEXTS), None, {}],
    lambda random: _nested(random.choice([5, 200, 12_000])),
)


@dataclass(frozen=True)
class Route:
    """Something that can be asked for."""

    path: str
    methods: tuple[str, ...] = ("GET",)
    """What may be done to it, the more often the more likely."""
    documents: tuple[dict[str, Any], ...] = ({},)
    """Bodies for it: one that says the least, and one that says everything."""


@dataclass
class Request:
    """One request, spoilt or not."""

    method: str
    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes


def routes(groups: tuple[Group, ...], others: tuple[str, ...]) -> Iterator[Route]:
    """Every collection, object and subresource of *groups*, and *others*."""
    yield from (Route(path) for path in others)
    for group in groups:
        for version in group.versions:
            api_version = f"{group.name}/{version}" if group.name else version
            root = f"/apis/{api_version}" if group.name else f"/api/{version}"
            yield Route(root)
            for resource in group.resources:
                yield from _resource_routes(root, resource, api_version)


def _resource_routes(root: str, resource: Resource, api_version: str) -> Iterator[Route]:
    documents = tuple(_documents(resource, api_version))
    place = f"{root}/namespaces/default" if resource.namespaced else root
    collection = f"{place}/{resource.name}"
    yield Route(f"{root}/{resource.name}")
    yield Route(f"{root}/watch/{resource.name}")
    yield Route(collection, ("GET", "POST", "POST", "POST", "DELETE"), documents)
    yield Route(f"{collection}/one", ("GET", "PUT", "PUT", "PATCH", "PATCH", "DELETE"), documents)
    for subresource in resource.subresources:
        yield Route(f"{collection}/one/{subresource.name}", ("GET", "PUT", "PATCH"), documents)


def good(route: Route) -> Request:
    """What creates the object that the others are about."""
    body = json.dumps(route.documents[0]).encode()
    collection = route.path.removesuffix("/one")
    return Request("POST", collection, b"", [(b"content-type", b"application/json")], body)


def _documents(resource: Resource, api_version: str) -> Iterator[dict[str, Any]]:
    content = CONTENT.get((resource.kind, api_version.rpartition("/")[2]), {})
    for given in (content, json.loads(dump_json(filled(resource.cls)))):
        metadata = {"name": "one", "labels": {"a": "b"}}
        yield {**given, "apiVersion": api_version, "kind": resource.kind, "metadata": metadata}


def spoilt(route: Route, seed: int) -> Request:
    """A request to *route* with something wrong in it, most of the time."""
    random = Random(f"{route.path} {seed}")
    method = random.choice(route.methods if random.random() < 0.9 else METHODS)
    document = json.loads(json.dumps(random.choice(route.documents)))
    if method == "POST" and document:
        document["metadata"]["name"] = f"one-{seed % 20}"
    for _ in range(random.choice([0, 0, 1, 3])):
        document = _spoil(document, random)
    content_type = random.choice(PATCHES) if method == "PATCH" else "application/json"
    if random.random() < 0.15:
        content_type = random.choice(MEDIA_TYPES)
    return Request(
        method,
        _path(route.path, random),
        _query(random),
        list(_headers(content_type, random)),
        _body(document, content_type, random) if method != "GET" or random.random() < 0.05 else b"",
    )


def _spoil(value: Any, random: Random) -> Any:
    """*value* with one place in it changed."""
    if random.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return random.choice(VALUES)(random)
    if isinstance(value, list):
        at = random.randrange(len(value))
        return [*value[:at], _spoil(value[at], random), *value[at + 1 :]]
    key = random.choice(list(value))
    changed = {k: v for k, v in value.items() if k != key}
    if random.random() < 0.1:
        return changed | {random.choice(TEXTS): value[key]}
    return changed | {key: _spoil(value[key], random)}


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(min(depth, 400)):
        value = [value]
    # The interpreter's own encoder does not go deeper; the marker is replaced in the text.
    return {"deep": value} if depth <= 400 else f"deep-{depth}"


def _body(document: Any, content_type: str, random: Random) -> bytes:
    if content_type.startswith(PROTOBUF):
        data = b"k8s\x00" + random.choice(
            [b"", b"\x0a\x04\x0a\x02v1\x12\x00", random.randbytes(40), b"\xff" * 20]
        )
    elif content_type == PATCHES[0] and random.random() < 0.9:
        data = _text([_operation(document, random) for _ in range(random.choice([0, 1, 3]))])
    else:
        data = _text(document)
    for depth in (12_000,):
        data = data.replace(f'"deep-{depth}"'.encode(), b"[" * depth + b"]" * depth)
    if "yaml" in content_type and random.random() < 0.3:
        data = random.choice(
            [b"a: &a [*a]", b"- x", b"--- \n---\n{}", b"!!python/object:os.x {}", b"a: b: c", b"\t"]
        )
    return mangled(data, random) if random.random() < 0.2 else data


def _text(document: Any) -> bytes:
    return json.dumps(document).encode()


def _operation(document: Any, random: Random) -> Any:
    names = ["add", "remove", "replace", "move", "copy", "test", "x", None]
    pointers = ["", "/", "/metadata", "/metadata/name", "/data/-", "/-", "/a~2", "x", 1, "/0" * 99]
    operation = {
        "op": random.choice(names),
        "path": random.choice(pointers),
        "from": random.choice(pointers),
        "value": random.choice(VALUES)(random),
    }
    operation.pop(random.choice(list(operation)))
    return operation if random.random() < 0.9 else document


def mangled(data: bytes, random: Random) -> bytes:
    """*data* cut, doubled, or with something inserted."""
    at = random.randrange(len(data) + 1)
    insertion = random.choice(
        [b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"}", b"{", b"\xed\xa0\x80"]
    )
    return random.choice(
        [data[:at], data[:at] + insertion + data[at:], data * 2, b"", data[at:], insertion + data]
    )


def _path(path: str, random: Random) -> str:
    path += "" if random.random() < 0.9 else random.choice(["/", "//", "/x", "/one/two", "/."])
    if random.random() < 0.9:
        return path
    segments = path.split("/")
    segments[random.randrange(len(segments))] = random.choice(TEXTS)
    return "/" + "/".join(segments).lstrip("/") if random.random() < 0.9 else "/".join(segments)


def _query(random: Random) -> bytes:
    pairs = []
    for _ in range(random.choice([0, 0, 0, 1, 4])):
        value = random.choice(TEXTS).encode("utf-8", "surrogatepass")
        raw = value if random.random() < 0.1 else quote(value).encode()
        pairs.append(random.choice(PARAMETERS).encode() + random.choice([b"=", b"=", b""]) + raw)
    return random.choice([b"&", b"&", b"&&", b";"]).join(pairs)


def _headers(content_type: str, random: Random) -> Iterator[tuple[bytes, bytes]]:
    yield b"host", b"x"
    yield b"content-type", content_type.encode("latin-1", "replace")
    if random.random() < 0.25:
        yield b"accept", random.choice(MEDIA_TYPES).encode("latin-1", "replace")
    for _ in range(random.choice([0, 0, 0, 0, 1, 3])):
        value = random.choice(TEXTS).encode("utf-8", "surrogatepass")
        yield random.choice(HEADERS).encode(), value.replace(b"\r\n", b" ").replace(b"\x00", b"")
