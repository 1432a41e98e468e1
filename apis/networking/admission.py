"""DefaultIngressClass: a new Ingress that names no class gets the default one."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from apis.networking import GROUP
from apis.networking.v1 import Ingress, IngressClass
from apis.networking.v1.ingress import CLASS_ANNOTATION
from apis.networking.v1.ingress_class import DEFAULT_CLASS_ANNOTATION
from apiserver import AdmissionPlugin, Attributes, CachedObjects, PluginFunctions, ServerParts

INGRESSES: Final = GroupResource(GROUP, "ingresses")
INGRESS_CLASSES: Final = GroupResource(GROUP, "ingressclasses")


class DefaultIngressClass:
    """Sets the class of new Ingresses to the one that is marked as default, the newest of them."""

    def __init__(self, parts: ServerParts) -> None:
        self._classes = CachedObjects(parts.find_store, INGRESS_CLASSES, IngressClass)

    async def __call__(self, attributes: Attributes) -> None:
        ingress = attributes.object
        if attributes.old_object is not None or not isinstance(ingress, Ingress):
            return
        if ingress.spec.ingress_class_name is not None:
            return
        if CLASS_ANNOTATION not in ingress.metadata.annotations:
            ingress.spec.ingress_class_name = await self._default()

    async def _default(self) -> str | None:
        # Of equal age, the first by name is chosen.
        newest = max(filter(_is_default, await self._classes.all()), key=_created, default=None)
        return None if newest is None else newest.metadata.name


def _is_default(ingress_class: Object) -> bool:
    return ingress_class.metadata.annotations.get(DEFAULT_CLASS_ANNOTATION) == "true"


def _created(ingress_class: Object) -> float:
    created = ingress_class.metadata.creation_timestamp
    return created.timestamp() if created else 0.0


def _build(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(mutate=DefaultIngressClass(parts))


DEFAULT_INGRESS_CLASS: Final = AdmissionPlugin(
    "DefaultIngressClass", _build, frozenset((INGRESSES,))
)
