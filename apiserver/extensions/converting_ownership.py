"""Converting ownership: managedFields of objects whose versions a webhook converts.

To find what a write changes for a manager of another version, the rules of ownership compare the
objects in that version. They are pure functions, deep inside of a step of the write, and cannot
wait for a webhook. A step that lacks a conversion therefore ends with `ConversionNeeded`; the
conversion is made, noted in the context of the request, and the step is repeated. It finds the note
then. Nothing is converted for writes of objects whose managers all use one version.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import orjson

from apimachinery.apply import MissingVersion
from apimachinery.codec import Codec, dump_json
from apimachinery.errors import APIError, InternalError
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import dump_content
from apiserver.context import RequestContext
from apiserver.extensions.conversion_review import NotConvertible
from apiserver.extensions.entry_conversion import EntryConversion
from apiserver.group import Group, Resource
from apiserver.managed_fields.field_tracking import FieldTracking

R = TypeVar("R")

Document = dict[str, Any]

MOST_ATTEMPTS: Final = 200
"""How often a step is repeated at most: more than managers have objects to be converted."""


class ConversionNeeded(Exception):
    """A step needs *document* in another version."""

    def __init__(self, document: bytes, version: str) -> None:
        super().__init__(f"a document has to be converted to {version}")
        self.document = document
        self.version = version


class ConversionReplay:
    """Implements `Replay` by the webhook of a definition."""

    def __init__(self, conversion: EntryConversion) -> None:
        self._conversion = conversion

    async def run(self, context: RequestContext, step: Callable[..., R], /, *args: Any) -> R:
        for _ in range(MOST_ATTEMPTS):
            try:
                return await context.workload.run(step, *args)
            except ConversionNeeded as needed:
                key = needed.document, needed.version
                context.converted[key] = await self._convert(needed, context)
        raise InternalError.of("the owners of fields need too many conversions")

    async def _convert(self, needed: ConversionNeeded, context: RequestContext) -> bytes | APIError:
        version = needed.version.rpartition("/")[2]
        try:
            document = await self._conversion.convert_document(
                orjson.loads(needed.document), version, context.workload
            )
        except NotConvertible as error:
            return APIError(str(error))
        return orjson.dumps(document)


class ConvertingOwnership:
    """Implements `Ownership`, for writes that run in a `Replay`."""

    supports_apply = True

    def __init__(self, codec: Codec, group: Group, resource: Resource) -> None:
        self._parts = codec, group, resource

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        try:
            self._tracking(context).track(context, old, new)
        except APIError:
            # As in Kubernetes, a write does not fail because of the owners of fields.
            new.metadata.managed_fields = old.metadata.managed_fields if old is not None else []

    def apply(
        self, context: RequestContext, live: Object | None, applied: Document, *, force: bool
    ) -> Document:
        return self._tracking(context).apply(context, live, applied, force=force)

    def include(self, group: Group, resource: Resource) -> None:
        """Do nothing: no other group serves the objects of a definition."""

    def _tracking(self, context: RequestContext) -> "_RequestTracking":
        return _RequestTracking(*self._parts, context)


class _RequestTracking(FieldTracking):
    """Tracks the owners of fields in one request, by the conversions made for it."""

    def __init__(
        self, codec: Codec, group: Group, resource: Resource, context: RequestContext
    ) -> None:
        super().__init__(codec, group, resource)
        self._converted = context.converted

    def _convert_object(self, obj: Object | None, version: str) -> Object | None:
        self._require(version)
        if obj is None or type(obj) is self._classes[version]:
            return obj
        bare = obj.deep_copy()
        bare.metadata.managed_fields = []
        document = self._in_version(orjson.loads(dump_json(bare)), version)
        return cast(Object, decode_leniently(self._classes[version], dump_content(document)))

    def _convert(self, document: Document, version: str) -> Document:
        self._require(document.get("apiVersion", ""))
        self._require(version)
        if document["apiVersion"] == version:
            return document
        return self._in_version(document, version)

    def _require(self, version: str) -> None:
        if version not in self._kinds:
            raise MissingVersion(f"no conversion to version {version}")

    def _in_version(self, document: Document, version: str) -> Document:
        """Return a converted document. Raises ConversionNeeded."""
        if not document.keys() - {"apiVersion", "kind"}:
            return {**document, "apiVersion": version}
        encoded = dump_content(document)
        converted = self._converted.get((encoded, version))
        if converted is None:
            raise ConversionNeeded(encoded, version)
        if isinstance(converted, APIError):
            raise converted
        return cast(Document, orjson.loads(converted))
