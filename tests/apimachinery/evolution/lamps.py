"""Lamps with any fields: how documents of one class are read by another."""

from collections.abc import Callable
from typing import Any

from pydantic import create_model

from apimachinery.evolution.document_upgrade import DocumentUpgrade
from apimachinery.evolution.field_tree import field_tree
from apimachinery.meta.types import Object
from apimachinery.model.model import Model
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme

GROUP = "shop.example.io"
V1 = GroupVersion(GROUP, "v1")


def model(name: str = "Part", /, *, extra: str = "ignore", **fields: Any) -> Any:
    """Return a Model with fields given as (type, default), or (type, ...) for required ones."""
    base = type("Base", (Model,), {}, extra=extra) if extra != "ignore" else Model
    return create_model(name, __base__=base, **fields)


def list_of(item: Any) -> Any:
    return list[item]


def map_of(value: Any) -> Any:
    return dict[str, value]


def lamp(*, extra: str = "ignore", **spec: Any) -> type[Object]:
    """Return a kind Lamp with these fields in its spec."""
    spec_class = model("LampSpec", extra=extra, **spec)
    cls = create_model("Lamp", __base__=Object, spec=(spec_class, ...))
    cls.__kind__ = "Lamp"
    return cls


def scheme_of(cls: type[Object], **upgrade: Any) -> Scheme:
    """Return a scheme in which *cls* is a version and its own internal class."""
    scheme = Scheme()
    scheme.add(V1, cls, internal=True)
    if upgrade:
        scheme.add_upgrade(cls, **upgrade)
    return scheme


def planned(
    old: type[Object], new: type[Object], *declare: Callable[[Scheme], None], **upgrade: Any
) -> DocumentUpgrade:
    """Return the upgrade of documents of *old* to *new*, by declared steps."""
    scheme = scheme_of(new, **upgrade)
    for function in declare:
        function(scheme)
    return DocumentUpgrade(new, field_tree(old), scheme.upgrades(new))


def upgraded(
    old: type[Object], new: type[Object], spec: Any, **upgrade: Any
) -> tuple[Any, tuple[str, ...]]:
    """Return the spec of a document of *old* as *new* has it, and the lost paths."""
    document = {"spec": spec}
    lost = planned(old, new, **upgrade).apply(document)
    return document["spec"], lost
