"""Admission of networking.k8s.io: a new Ingress that names no class gets the default one."""

from typing import Final

from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apis.networking import GROUP
from apis.networking.v1 import Ingress
from apis.networking.v1.ingress import CLASS_ANNOTATION
from apis.networking.v1.ingress_class import DEFAULT_CLASS_ANNOTATION
from apiserver import Attributes, ServerParts
from apiserver.storage.cache.entry import EntrySelection

INGRESS_CLASSES: Final = GroupResource(GROUP, "ingressclasses")

_AS_CACHED: Final = ListOptions(resource_version="0")
_MARK: Final = DEFAULT_CLASS_ANNOTATION.encode()


class DefaultIngressClass:
    """Sets the class of new Ingresses to the one that is marked as default, the newest of them."""

    def __init__(self, parts: ServerParts) -> None:
        self._find_store = parts.find_store

    async def __call__(self, attributes: Attributes) -> None:
        ingress = attributes.object
        if attributes.old_object is not None or not isinstance(ingress, Ingress):
            return
        if ingress.spec.ingress_class_name is not None:
            return
        if CLASS_ANNOTATION not in ingress.metadata.annotations:
            ingress.spec.ingress_class_name = await self._default()

    async def _default(self) -> str | None:
        store = self._find_store(INGRESS_CLASSES)
        entries = (await store.list(EntrySelection(), _AS_CACHED)).entries
        # The text may also occur elsewhere in a class, so it is decoded to be sure.
        marked = [store.decode(entry) for entry in entries if _MARK in entry.record.value]
        defaults = sorted(filter(_is_default, marked), key=lambda found: found.metadata.name)
        newest = max(defaults, key=_created, default=None)
        return None if newest is None else newest.metadata.name


def _is_default(ingress_class: Object) -> bool:
    return ingress_class.metadata.annotations.get(DEFAULT_CLASS_ANNOTATION) == "true"


def _created(ingress_class: Object) -> float:
    created = ingress_class.metadata.creation_timestamp
    return created.timestamp() if created else 0.0
