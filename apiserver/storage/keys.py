"""Storage keys: every object is stored at `/registry/<group>/<resource>/<namespace>/<name>`.

Only this module builds and parses keys, so that a prefix always ends in a slash and never matches
the keys of another resource (`pods` and `podtemplates`). The core group, whose name is empty, is
spelled `core`; the key of a cluster-scoped object has no namespace.
"""

from dataclasses import dataclass, field

from apiserver.storage.interface import StorageError

ROOT = "/registry/"
CORE = "core"


class InvalidStorageKey(StorageError, ValueError):
    """A key, or a part of one, does not follow this layout."""


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """A parsed key; *namespace* is empty for a cluster-scoped object."""

    group: str
    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class ResourceKeys:
    """Builds and parses the keys of one resource."""

    group: str
    resource: str
    namespaced: bool = True
    prefix: str = field(init=False, repr=False, compare=False)
    """The prefix of the keys of all objects of the resource."""

    def __post_init__(self) -> None:
        if self.group == CORE:
            raise InvalidStorageKey(f"group {self.group!r}: reserved for the group named ''")
        group = _segment("group", self.group or CORE)
        resource = _segment("resource", self.resource)
        object.__setattr__(self, "prefix", f"{ROOT}{group}/{resource}/")

    def namespace_prefix(self, namespace: str) -> str:
        """Return the prefix of the keys of all objects of the resource in *namespace*."""
        if not self.namespaced:
            raise InvalidStorageKey(
                f"resource {self.resource!r} is cluster-scoped, got namespace {namespace!r}"
            )
        return f"{self.prefix}{_segment('namespace', namespace)}/"

    def object_key(self, name: str, *, namespace: str = "") -> str:
        """Return the key of an object; *namespace* is empty only for a cluster-scoped resource."""
        if self.namespaced or namespace:
            return self.namespace_prefix(namespace) + _segment("name", name)
        return self.prefix + _segment("name", name)

    def split(self, key: str) -> tuple[str, str]:
        """Return the namespace (empty if cluster-scoped) and the name in *key*."""
        if key.startswith(self.prefix):
            rest = key[len(self.prefix) :]
            namespace, slash, name = rest.partition("/") if self.namespaced else ("", "/", rest)
            if slash and name and "/" not in name and (namespace or not self.namespaced):
                return namespace, name
        raise InvalidStorageKey(f"key {key!r} is not an object of {self.prefix!r}")


def parse(key: str) -> ObjectKey:
    """Parse the key of an object of any resource."""
    segments = key[len(ROOT) :].split("/")
    if not key.startswith(ROOT) or len(segments) not in (3, 4) or "" in segments:
        raise InvalidStorageKey(
            f"key {key!r}: expected {ROOT}<group>/<resource>/<namespace>/<name> "
            f"or {ROOT}<group>/<resource>/<name>"
        )
    group, resource, *namespace, name = segments
    return ObjectKey("" if group == CORE else group, resource, "".join(namespace), name)


def object_name(key: str) -> str:
    """Return `namespace/name`, or the name, of the object of any resource at *key*."""
    return "/".join(key.removeprefix(ROOT).split("/")[2:])


def resource_prefix(key: str) -> str:
    """Return the prefix of the resource of *key*, or one that no resource has if *key* is
    malformed.

    Called for every change of the whole store, so it only searches for slashes and validates
    nothing.
    """
    return key[: key.find("/", key.find("/", len(ROOT)) + 1) + 1]


def after_prefix(prefix: str) -> str:
    """Return the first key after all keys that begin with *prefix*, which must end in a slash."""
    return prefix[:-1] + "0"  # "0" is the character after "/"


def _segment(part: str, text: str) -> str:
    if not text or "/" in text:
        raise InvalidStorageKey(f"{part} {text!r}: must not be empty and must not contain '/'")
    return text
