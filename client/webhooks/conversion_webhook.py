"""Conversion webhook: converts custom resources by the conversions of a scheme.

A server posts objects and the version that it needs, and stores or serves what it gets back. The
metadata belongs to the server: only labels and annotations may change, where conversions keep what
a version has no field for. If one object cannot be converted, the review fails as a whole, and its
message names the object.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from apimachinery.codec import dump_json
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object
from apimachinery.model.model import assign
from apimachinery.schema import GroupVersion, GroupVersionKind, InvalidGroupVersion
from apimachinery.scheme import Scheme
from client.webhooks.admission_request import log
from client.webhooks.heavy_steps import run_step
from client.webhooks.review_documents import ConversionOrder, encode_json


class ConversionFailed(Exception):
    """An object that cannot be converted; the message names it."""


class ConversionWebhook:
    """Converts the objects of the registered kinds between their versions."""

    name = "convert"
    path = "/convert"

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._classes: dict[GroupVersionKind, type[Object]] = {}

    @property
    def kinds(self) -> list[GroupVersionKind]:
        return list(self._classes)

    def add(self, classes: Mapping[GroupVersionKind, type[Object]]) -> None:
        """Convert between these versions of a kind. Raises UnknownConversion.

        Raises ValueError unless they are several versions of one kind.
        """
        kinds = {kind.group_kind for kind in classes}
        if len(kinds) != 1 or len(classes) < 2:
            names = ", ".join(map(str, classes)) or "none"
            raise ValueError(f"a converter is for several versions of one kind, not for: {names}")
        errors = self._scheme.conversion_errors()
        for kind in classes:
            if kind in errors:
                raise errors[kind]
        self._classes.update(classes)

    async def convert(self, order: ConversionOrder, size: int) -> list[dict[str, Any]] | str:
        """Return the converted objects of a review of *size* bytes, or why there are none."""
        try:
            return await run_step(size, self._convert_all, order)
        except ConversionFailed as error:
            log.warning("convert to %s: %s", order.desired_api_version, error)
            return str(error)

    def _convert_all(self, order: ConversionOrder) -> list[dict[str, Any]]:
        try:
            version = GroupVersion.parse(order.desired_api_version)
        except InvalidGroupVersion as error:
            raise ConversionFailed(f"request.desiredAPIVersion: {error}") from None
        return [
            self._convert(document, version, f"request.objects[{position}]")
            for position, document in enumerate(order.objects)
        ]

    def _convert(self, document: dict[str, Any], version: GroupVersion, field: str) -> Any:
        kind = _kind_of(document, field)
        if kind.group_version == version:
            return document
        target = version.with_kind(kind.kind)
        for needed in (kind, target):
            if needed not in self._classes:
                known = ", ".join(map(str, self._classes))
                raise ConversionFailed(f"{field}: {needed} is not converted here, but {known}")
        try:
            source = decode_leniently(self._classes[kind], encode_json(document))
            converted = self._scheme.convert(source, self._classes[target])
            assign(converted, kind=target.kind, api_version=target.api_version)
            result = orjson.loads(dump_json(converted))
        except Exception as error:  # conversions are functions of users and may raise anything
            log.debug("conversion failed", exc_info=True)
            raise ConversionFailed(
                f"{field}: {kind.kind} {_name_of(document)} from {kind.group_version} to {version}:"
                f" {error}"
            ) from error
        return {**result, "metadata": _metadata(document, result)}


def _kind_of(document: Mapping[str, Any], field: str) -> GroupVersionKind:
    api_version, kind = document.get("apiVersion"), document.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind:
        raise ConversionFailed(f"{field}: must have a kind and an apiVersion")
    try:
        return GroupVersion.parse(api_version).with_kind(kind)
    except InvalidGroupVersion as error:
        raise ConversionFailed(f"{field}.apiVersion: {error}") from None


def _metadata(document: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of *document* with the labels and annotations of *result*."""
    metadata = dict(document.get("metadata") or {})
    for name in ("labels", "annotations"):
        value = result.get("metadata", {}).get(name)
        if value:
            metadata[name] = value
        else:
            metadata.pop(name, None)
    return metadata


def _name_of(document: Mapping[str, Any]) -> str:
    metadata = document.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    return "/".join(str(names[part]) for part in ("namespace", "name") if names.get(part))
