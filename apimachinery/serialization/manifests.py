"""Manifests: load objects from YAML and JSON files, and write them.

    for obj in load_all(Path("app.yaml").read_bytes()):
        client.of_document(obj).apply(obj, field_manager="me")

A file contains one or more documents, some of which may be lists. A kind that the scheme recognizes
is decoded to its class, any other kind to an `Unstructured`: a manifest may contain custom
resources that have no class. An unknown field is an error, because it would be lost.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from apimachinery.codec import dump_json
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.schema import GroupVersion, InvalidGroupVersion
from apimachinery.scheme import Scheme
from apimachinery.serialization.yaml import load_all_yaml
from apimachinery.serialization.yaml_writer import dump_yaml


def load_all(data: bytes | str, scheme: Scheme | None = None) -> list[Object]:
    """Load the objects of a manifest in YAML or JSON; raises DecodeError.

    Empty documents are skipped and lists are expanded to their items. Nothing is defaulted or
    converted.
    """
    encoded = data.encode() if isinstance(data, str) else data
    objects: list[Object] = []
    for number, (document, duplicates) in enumerate(load_all_yaml(encoded), 1):
        try:
            if duplicates:
                raise DecodeError(f'key "{duplicates[0]}" is already set')
            if document is not None:
                objects += [_decode(item, scheme) for item in _expand(document)]
        except DecodeError as error:
            raise DecodeError(f"document {number}: {error}") from None
    return objects


def dump_all(objects: Iterable[Object]) -> bytes:
    """Encode *objects* as YAML documents with sorted keys, as kubectl prints them."""
    return b"---\n".join(dump_yaml(orjson.loads(dump_json(obj))) for obj in objects)


def _expand(document: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the document, or its items if it is a list; the items of a typed list have no kind."""
    if not isinstance(document, dict):
        raise DecodeError("must be an object")
    kind, items = document.get("kind"), document.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    item_kind = kind.removesuffix("List")
    type_meta = {"apiVersion": document.get("apiVersion"), "kind": item_kind} if item_kind else {}
    for item in items:
        if not isinstance(item, dict):
            raise DecodeError("items: must be objects")
        yield from _expand({**type_meta, **item})


def _decode(document: Mapping[str, Any], scheme: Scheme | None) -> Object:
    cls = _class(document, scheme)
    decoded = decode_json(cls, orjson.dumps(document))
    if decoded.unknown:
        raise DecodeError(f'unknown field "{decoded.unknown[0]}" of {cls.__kind__}')
    return decoded.object


def _class(document: Mapping[str, Any], scheme: Scheme | None) -> type[Object]:
    api_version, kind = document.get("apiVersion"), document.get("kind")
    for name, value in (("apiVersion", api_version), ("kind", kind)):
        if not isinstance(value, str) or not value:
            raise DecodeError(f"{name}: must be a non-empty string")
    try:
        full_kind = GroupVersion.parse(str(api_version)).with_kind(str(kind))
    except InvalidGroupVersion as error:
        raise DecodeError(f"apiVersion: {error}") from None
    if scheme is None or not scheme.recognizes(full_kind):
        return Unstructured
    cls = scheme.class_of(full_kind)
    return cls if issubclass(cls, Object) else Unstructured
