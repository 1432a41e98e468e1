"""Admission of scheduling.k8s.io: one default class, and system classes that stay."""

from typing import Final

from apimachinery.meta.options import ListOptions
from apimachinery.schema import GroupResource
from apis.scheduling import GROUP
from apis.scheduling.system_classes import system_priority_classes
from apis.scheduling.v1 import PriorityClass
from apiserver import Attributes, ServerParts
from apiserver.storage.cache.entry import EntrySelection

PRIORITY_CLASSES: Final = GroupResource(GROUP, "priorityclasses")

_AS_CACHED: Final = ListOptions(resource_version="0")
_MARK: Final = b'"globalDefault":true'


class DefaultPriorityClass:
    """Finds the class of pods that name none."""

    def __init__(self, parts: ServerParts) -> None:
        self._find_store = parts.find_store

    async def __call__(self) -> PriorityClass | None:
        """Return the default class; of several, the one with the lowest value."""
        store = self._find_store(PRIORITY_CLASSES)
        entries = (await store.list(EntrySelection(), _AS_CACHED)).entries
        # The text may also occur elsewhere in a class, so it is decoded to be sure.
        marked = [store.decode(entry) for entry in entries if _MARK in entry.record.value]
        defaults = [found for found in marked if found.global_default]
        return min(defaults, key=lambda found: found.value, default=None)


class SingleDefault:
    """Rejects a second default class."""

    def __init__(self, default: DefaultPriorityClass) -> None:
        self._default = default

    async def __call__(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if not isinstance(new, PriorityClass) or not new.global_default:
            return
        default = await self._default()
        if default is None or (old is not None and default.metadata.name == new.metadata.name):
            return
        raise attributes.forbidden(
            f"PriorityClass {default.metadata.name} is already marked as default."
            " Only one default can exist"
        )


def keep_system_classes(attributes: Attributes) -> None:
    """Reject the deletion of a system class."""
    # As in Kubernetes, the deletion of all classes does not spare them.
    if attributes.context.verb != "delete":
        return
    if attributes.name in (known.metadata.name for known in system_priority_classes()):
        raise attributes.forbidden("this is a system priority class and cannot be deleted")
