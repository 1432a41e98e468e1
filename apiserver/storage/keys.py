"""Where an object lives in the store: `/registry/<group>/<resource>/<namespace>/<name>`.

Keys are made and read here and nowhere else, so that a prefix always ends in a slash and never
takes in a neighbour (`pods` and `podtemplates`). The core group, whose name is empty, is spelled
`core`; an object of a cluster-scoped resource has no namespace in its key.
"""

from dataclasses import dataclass, field

from apiserver.storage.interface import StorageError

ROOT = "/registry/"
CORE = "core"


class InvalidStorageKey(StorageError, ValueError):
    """A key or a part of one that this layout does not have."""


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """A key taken apart; *namespace* is empty for an object of a cluster-scoped resource."""

    group: str
    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class ResourceKeys:
    """The keys of one resource."""

    group: str
    resource: str
    namespaced: bool = True
    prefix: str = field(init=False, repr=False, compare=False)
    """What the keys of all objects of the resource begin with."""

    def __post_init__(self) -> None:
        if self.group == CORE:
            raise InvalidStorageKey(f"group {self.group!r}: the name is taken for the group ''")
        group = _segment("group", self.group or CORE)
        resource = _segment("resource", self.resource)
        object.__setattr__(self, "prefix", f"{ROOT}{group}/{resource}/")

    def namespace_prefix(self, namespace: str) -> str:
        """What the keys of all objects of the resource in *namespace* begin with."""
        if not self.namespaced:
            raise InvalidStorageKey(
                f"resource {self.resource!r} has no namespaces, got {namespace!r}"
            )
        return f"{self.prefix}{_segment('namespace', namespace)}/"

    def object_key(self, name: str, *, namespace: str = "") -> str:
        """The key of one object; *namespace* is empty exactly if the resource has none."""
        if self.namespaced or namespace:
            return self.namespace_prefix(namespace) + _segment("name", name)
        return self.prefix + _segment("name", name)

    def split(self, key: str) -> tuple[str, str]:
        """The namespace (empty if the resource has none) and the name in *key*."""
        if key.startswith(self.prefix):
            rest = key[len(self.prefix) :]
            namespace, slash, name = rest.partition("/") if self.namespaced else ("", "/", rest)
            if slash and name and "/" not in name and (namespace or not self.namespaced):
                return namespace, name
        raise InvalidStorageKey(f"key {key!r} is not an object of {self.prefix!r}")


def parse(key: str) -> ObjectKey:
    """Take apart the key of any object."""
    segments = key[len(ROOT) :].split("/")
    if not key.startswith(ROOT) or len(segments) not in (3, 4) or "" in segments:
        raise InvalidStorageKey(
            f"key {key!r}: expected {ROOT}<group>/<resource>/<namespace>/<name> "
            f"or {ROOT}<group>/<resource>/<name>"
        )
    group, resource, *namespace, name = segments
    return ObjectKey("" if group == CORE else group, resource, "".join(namespace), name)


def resource_prefix(key: str) -> str:
    """The prefix of the resource that *key* belongs to; what no resource has if it is no such key.

    This runs for every change of the whole store, so it looks for slashes and checks nothing.
    """
    return key[: key.find("/", key.find("/", len(ROOT)) + 1) + 1]


def after_prefix(prefix: str) -> str:
    """The first key that comes after all keys beginning with *prefix*, which ends in a slash."""
    return prefix[:-1] + "0"  # the character that follows the slash


def _segment(what: str, text: str) -> str:
    if not text or "/" in text:
        raise InvalidStorageKey(f"{what} {text!r}: must not be empty and must not contain '/'")
    return text
