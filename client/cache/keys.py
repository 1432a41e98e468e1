"""Keys of cached objects: `namespace/name`, or `name` for a cluster-scoped object.

The uid is not part of the key. An object that was deleted and created again may therefore appear
as one update; compare the uids where that matters.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from apimachinery.meta.types import Object

T_co = TypeVar("T_co", bound=Object, covariant=True)


class InvalidKey(ValueError):
    """A string that is not a valid key, or an object without a name."""


def object_key(obj: Object) -> str:
    """Return the key of *obj*. Raises InvalidKey if it has no name."""
    metadata = obj.metadata
    if not metadata.name:
        raise InvalidKey(f"object has no name: {obj!r}"[:200])
    return join_key(metadata.namespace, metadata.name)


def join_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def split_key(key: str) -> tuple[str, str]:
    """Return namespace and name; the namespace of a cluster-scoped object is empty."""
    namespace, slash, name = key.partition("/")
    if not slash:
        return "", key
    if "/" in name:
        raise InvalidKey(f"unexpected key format: {key!r}")
    return namespace, name


@dataclass(frozen=True, slots=True)
class DeletedObject(Generic[T_co]):
    """A deleted object.

    *key* is always valid. If the watch delivered the deletion, *object* is the final state, with
    the resourceVersion of the deletion. If the object was missing from a later list instead, its
    final state is unknown: *object* is the last known state, possibly stale, or None.
    """

    key: str
    object: T_co | None
    final_state_unknown: bool = False

    @property
    def namespace(self) -> str:
        return split_key(self.key)[0]

    @property
    def name(self) -> str:
        return split_key(self.key)[1]
