"""Keys: how an object is called in a cache, `namespace/name` or, without a namespace, `name`.

The uid is no part of it. An object that was deleted and created again may therefore arrive as one
update; who cares compares the uids.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from apimachinery.meta.types import Object

T_co = TypeVar("T_co", bound=Object, covariant=True)


class InvalidKey(ValueError):
    """A text that is the key of no object, or an object that has no key."""


def object_key(obj: Object) -> str:
    """The key of *obj*; InvalidKey when it has no name."""
    metadata = obj.metadata
    if not metadata.name:
        raise InvalidKey(f"object has no name: {obj!r}"[:200])
    return join_key(metadata.namespace, metadata.name)


def join_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def split_key(key: str) -> tuple[str, str]:
    """Namespace and name of a key; the namespace is empty where there is none."""
    namespace, slash, name = key.partition("/")
    if not slash:
        return "", key
    if "/" in name:
        raise InvalidKey(f"unexpected key format: {key!r}")
    return namespace, name


@dataclass(frozen=True, slots=True)
class DeletedObject(Generic[T_co]):
    """An object that is gone.

    *key* is always right. When the deletion itself was seen, *object* is the last state, with the
    resourceVersion of the deletion. When it was only found missing from a later list, its final
    state is unknown: *object* is what was known last, which may be stale, or None.
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
