"""Names of OpenAPI definitions: `io.example.gadgets.v1.GadgetSpec`.

Clients look up a kind by its `x-kubernetes-group-version-kind` marker, not by the name of its
definition. But generated clients, documentation and diffs show the names, so they are a contract
too. Kubernetes names a definition after its Go package; the definitions of any other group start
with the reversed group name, as those of custom resources do.
"""

import re
from collections.abc import Container, Iterable
from typing import Any, Final

from pydantic import BaseModel

from apimachinery.meta.types import Object, ObjectList
from apimachinery.schema import GroupVersion

META_PACKAGE: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"

_META_MODULES: Final = ("apimachinery.meta.", "apimachinery.openapi.")
_NOT_ALLOWED: Final = re.compile(r"[^A-Za-z0-9_]+")

# Groups whose package is not `io.k8s.api.<first word of the group>`.
_PACKAGES: Final = {
    "": "io.k8s.api.core",
    "apiextensions.k8s.io": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration.k8s.io": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    "internal.apiserver.k8s.io": "io.k8s.api.apiserverinternal",
    "metrics.k8s.io": "io.k8s.metrics.pkg.apis.metrics",
}
_KUBERNETES_GROUPS: Final = frozenset(
    (
        "admission.k8s.io",
        "admissionregistration.k8s.io",
        "apidiscovery.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "imagepolicy.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    )
)


def package_name(version: GroupVersion) -> str:
    """Return the name prefix of all definitions of a version."""
    group = version.group
    if group in _KUBERNETES_GROUPS:
        package = f"io.k8s.api.{group.split('.')[0]}"
    else:
        package = _PACKAGES.get(group) or ".".join(reversed(group.split(".")))
    return f"{package}.{version.version}"


def schema_name(cls: type[BaseModel], version: GroupVersion, kind: str = "") -> str:
    """Return the definition name of *cls*, before collisions are resolved by `unique`.

    *kind* is the kind that the class is registered as, if any. A meta class (`is_meta`) that is
    not a kind of *version* has the same name in every version.
    """
    if not kind and is_meta(cls):
        return _own_name(cls) or f"{META_PACKAGE}.{base_name(cls)}"
    return f"{package_name(version)}.{kind or base_name(cls)}"


def is_meta(cls: type[BaseModel]) -> bool:
    """Return whether *cls* belongs to no group that refers to it, or says to which one.

    ObjectMeta, Status, Condition and the like belong to none.
    """
    if _arguments(cls):
        return False
    return cls.__module__.startswith(_META_MODULES) or bool(_own_name(cls))


def _own_name(cls: type[BaseModel]) -> str:
    """Return the name that the class declares, empty if none."""
    return getattr(cls, "__definition__", "")


def item_of(cls: type[BaseModel]) -> Any:
    """Return the item class of `ObjectList[...]`, or None for any other class."""
    generic = cls.__pydantic_generic_metadata__
    return generic["args"][0] if generic["origin"] is ObjectList and generic["args"] else None


def base_name(cls: type[BaseModel]) -> str:
    """Return the last part of the name: `Gadget`, `GadgetList`, `PageGadget` for Page[Gadget]."""
    arguments = _arguments(cls)
    if not arguments:
        name = cls.__kind__ if issubclass(cls, Object) else cls.__name__
        return _NOT_ALLOWED.sub("_", name)
    names = "".join(_argument_name(argument) for argument in arguments)
    origin = cls.__pydantic_generic_metadata__["origin"] or BaseModel
    return f"{names}List" if origin is ObjectList else f"{base_name(origin)}{names}"


def _arguments(cls: type[BaseModel]) -> tuple[Any, ...]:
    return tuple(cls.__pydantic_generic_metadata__["args"])


def _argument_name(argument: Any) -> str:
    if isinstance(argument, type) and issubclass(argument, BaseModel):
        return base_name(argument)
    text = argument.__name__ if isinstance(argument, type) else str(argument)
    return "".join(part[:1].upper() + part[1:] for part in _NOT_ALLOWED.split(text))


class VersionIndex:
    """Maps classes that are not kinds themselves to a version, by the module that defines them.

    A module inherits the version of the nearest package that holds kinds: for
    `apis.core.v1.types.volume` that is `apis.core.v1`, whose kinds are all of core/v1.
    """

    def __init__(self, kinds: Iterable[tuple[GroupVersion, type[BaseModel]]]) -> None:
        self._versions: dict[str, set[GroupVersion]] = {}
        for version, cls in kinds:
            if is_meta(cls):
                continue
            for module in _module_and_parents(cls.__module__):
                self._versions.setdefault(module, set()).add(version)

    def version_of(self, cls: type[BaseModel], default: GroupVersion) -> GroupVersion:
        """Return the version of *cls*, or *default* if its modules have none or several."""
        for module in _module_and_parents(cls.__module__):
            versions = self._versions.get(module)
            if versions:
                return next(iter(versions)) if len(versions) == 1 else default
        return default


def _module_and_parents(module: str) -> Iterable[str]:
    while module:
        yield module
        module = module.rpartition(".")[0]


def unique(name: str, used_names: Container[str]) -> str:
    """Return *name*, or on a collision `Gadget_v2` and so on, as Kubernetes numbers them."""
    candidate, number = name, 2
    while candidate in used_names:
        candidate, number = f"{name}_v{number}", number + 1
    return candidate
