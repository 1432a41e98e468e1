"""Manifests: the files that people keep their objects in, read and written.

    for obj in load_all(Path("app.yaml").read_bytes()):
        client.of_document(obj).apply(obj, field_manager="me")

A file has one document or several, and lists among them. What a scheme knows becomes an object of
its class, and everything else an `Unstructured`: a manifest may well be about kinds that nobody
wrote a class for. A field that its class does not have is an error, because it would be lost.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from apimachinery.codec import dump_json
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.wire_rules import sorted_deep
from apimachinery.schema import GroupVersion, InvalidGroupVersion
from apimachinery.scheme import Scheme
from apimachinery.serialization.yaml import dump_yaml, load_all_yaml


def load_all(data: bytes | str, scheme: Scheme | None = None) -> list[Object]:
    """The objects in the YAML or JSON documents of a manifest, or DecodeError.

    Empty documents are passed over and lists taken apart. Nothing is defaulted or converted.
    """
    text = data.encode() if isinstance(data, str) else data
    found: list[Object] = []
    for number, (document, duplicates) in enumerate(load_all_yaml(text), 1):
        try:
            if duplicates:
                raise DecodeError(f'key "{duplicates[0]}" is already set')
            if document is not None:
                found += [_object(one, scheme) for one in _documents(document)]
        except DecodeError as error:
            raise DecodeError(f"document {number}: {error}") from None
    return found


def dump_all(objects: Iterable[Object]) -> bytes:
    """A manifest of *objects* in YAML, with the keys in order, as kubectl prints them."""
    return b"---\n".join(dump_yaml(sorted_deep(orjson.loads(dump_json(obj)))) for obj in objects)


def _documents(document: Any) -> Iterator[Mapping[str, Any]]:
    """The document, or what is in it if it is a list; the items of one may leave out their kind."""
    if not isinstance(document, dict):
        raise DecodeError("must be an object")
    kind, items = document.get("kind"), document.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    own = kind.removesuffix("List")
    usual = {"apiVersion": document.get("apiVersion"), "kind": own} if own else {}
    for item in items:
        if not isinstance(item, dict):
            raise DecodeError("items: must be objects")
        yield from _documents({**usual, **item})


def _object(document: Mapping[str, Any], scheme: Scheme | None) -> Object:
    cls = _class(document, scheme)
    decoded = decode_json(cls, orjson.dumps(document))
    if decoded.unknown:
        raise DecodeError(f'unknown field "{decoded.unknown[0]}" of {cls.__kind__}')
    return decoded.object


def _class(document: Mapping[str, Any], scheme: Scheme | None) -> type[Object]:
    api_version, kind = document.get("apiVersion"), document.get("kind")
    for name, value in (("apiVersion", api_version), ("kind", kind)):
        if not isinstance(value, str) or not value:
            raise DecodeError(f"{name}: must be a string that is not empty")
    try:
        wanted = GroupVersion.parse(str(api_version)).with_kind(str(kind))
    except InvalidGroupVersion as error:
        raise DecodeError(f"apiVersion: {error}") from None
    if scheme is None or not scheme.recognises(wanted):
        return Unstructured
    found = scheme.class_of(wanted)
    return found if issubclass(found, Object) else Unstructured
