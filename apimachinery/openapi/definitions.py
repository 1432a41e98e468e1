"""Definitions: every type that some kinds are made of, each described once under its name.

First all types are found, then names are given, then schemas are written: a name can only be
known when all the others are. A class that several versions share is described in each of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from apimachinery.meta.discovery import APIResourceList
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import ObjectList, WatchEvent
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of, type_info
from apimachinery.openapi.definition_names import Owners, is_meta, item_of, schema_name, unique
from apimachinery.openapi.dialect import Dialect, Schema
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.properties import around, is_required, reflowed
from apimachinery.openapi.scalar_schemas import (
    ANYTHING,
    PATCH,
    NamedScalar,
    bare_scalar,
    constraints,
    named_scalar,
    plain_scalar,
)
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.structural.publishing import published
from apimachinery.structural.structural_schema import structural_of

_META_VERSION: Final = GroupVersion("meta.k8s.io", "v1")
_CORE: Final = GroupVersion("", "v1")


@dataclass(frozen=True, slots=True)
class PublishedKind:
    """A class under its name as a kind; *list_kind* is empty if there are no lists of it."""

    kind: GroupVersionKind
    cls: type[BaseModel]
    list_kind: str = ""


@dataclass(frozen=True, slots=True)
class _Node:
    """One definition: a class as part of a version, and as which kind if it is one."""

    cls: type[BaseModel]
    version: GroupVersion
    kind: str = ""
    item: "_Node | None" = None
    """What a list holds; its class is then ObjectList itself."""

    @property
    def order(self) -> tuple[Any, ...]:
        """Kinds first, since their names are the ones that people know."""
        return (not self.kind, self.cls.__module__, self.cls.__qualname__, self.version, self.kind)


class Definitions:
    """The definitions of some kinds and of all they refer to, in one dialect.

    *owners* tells to which version a class belongs that is defined outside of these kinds'.
    """

    def __init__(
        self,
        dialect: Dialect,
        kinds: Iterable[PublishedKind],
        *,
        owners: Owners | None = None,
    ) -> None:
        self.dialect = dialect
        self._kinds = sorted(set(kinds), key=lambda each: each.kind)
        self._owners = owners or Owners((each.kind.group_version, each.cls) for each in self._kinds)
        self._by_class: dict[tuple[type[BaseModel], GroupVersion], _Node] = {}
        self._by_kind: dict[GroupVersionKind, _Node] = {}
        self._lists: dict[_Node, _Node] = {}
        self._scalars: dict[str, NamedScalar] = {PATCH.name: PATCH}
        for each in self._kinds:
            self._add_kind(each)
        self._names = self._name(self._found())

    def reference(self, kind: GroupVersionKind) -> Schema:
        """A reference to a kind or to the kind of its lists."""
        node = self._by_kind.get(kind)
        if node is None:
            raise UnpublishableType(str(kind), "it is not among the kinds of these definitions")
        return self._refer(node)

    def meta_reference(self, cls: type[BaseModel]) -> Schema:
        """A reference to one of the types that every document has, such as Status."""
        return self._refer(self._node(cls, _META_VERSION))

    def patch_reference(self) -> Schema:
        return self.dialect.reference(PATCH.name)

    def schemas(self) -> dict[str, Schema]:
        """All definitions by name, in order."""
        found = {name: self._schema(node) for node, name in self._names.items()}
        found.update({name: each.schema(self.dialect) for name, each in self._scalars.items()})
        return dict(sorted(found.items()))

    def _add_kind(self, published: PublishedKind) -> None:
        version, cls = published.kind.group_version, published.cls
        if published.kind in self._by_kind:
            raise UnpublishableType(str(published.kind), "two classes are published as this kind")
        node = self._by_kind[published.kind] = _Node(cls, version, published.kind.kind)
        self._by_class.setdefault((cls, version), node)
        if published.list_kind:
            listed = _Node(ObjectList, version, published.list_kind, node)
            self._lists[node] = listed
            if self._by_kind.setdefault(version.with_kind(published.list_kind), listed) != listed:
                raise UnpublishableType(str(published.kind), "its list is a kind of its own")

    def _found(self) -> list[_Node]:
        waiting = [*self._by_kind.values()]
        waiting += [self._node(cls, _META_VERSION) for cls in _EVERYWHERE]
        found: dict[_Node, None] = dict.fromkeys(waiting)
        while waiting:
            node = waiting.pop()
            for child in self._children(node):
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return sorted(found, key=lambda node: node.order)

    def _children(self, node: _Node) -> Iterator[_Node]:
        if node.item is not None:
            yield node.item
        for field in _fields(node):
            yield from self._in_type(field.type, node.version)

    def _in_type(self, info: TypeInfo, version: GroupVersion) -> Iterator[_Node]:
        if bare_scalar(info) is not None:
            return
        scalar = named_scalar(info)
        if scalar is not None:
            self._scalars[scalar.name] = scalar
        elif info.category == "model":
            yield self._node(info.python, version)
        elif info.item is not None:
            yield from self._in_type(info.item, version)
        else:
            for arm in _arms(info):
                yield from self._in_type(arm, version)

    def _node(self, cls: type[BaseModel], version: GroupVersion) -> _Node:
        """The definition that a field of a type of *version* means by *cls*."""
        item = item_of(cls)
        if item is not None:
            held = self._node(item, version)
            listed = _Node(ObjectList, held.version, f"{held.kind or item.__name__}List", held)
            return self._lists.get(held, listed)
        if is_meta(cls):
            return self._by_class.get((cls, version)) or _Node(cls, _META_VERSION)
        owner = self._owners.owner(cls, version)
        return self._by_class.get((cls, owner)) or _Node(cls, owner)

    def _name(self, nodes: Iterable[_Node]) -> dict[_Node, str]:
        names: dict[_Node, str] = {}
        taken = set(self._scalars)
        for node in nodes:
            name = names[node] = unique(schema_name(node.cls, node.version, node.kind), taken)
            taken.add(name)
        return names

    def _refer(self, node: _Node) -> Schema:
        return self.dialect.reference(self._names[node])

    def _schema(self, node: _Node) -> Schema:
        structural = None if node.item else structural_of(node.cls)
        if structural is not None:
            return self._structural(node, structural.source)
        schema: Schema = {}
        description = _description(node)
        if description:
            schema["description"] = description
        is_open = node.cls.model_config.get("extra") == "allow"
        if self.dialect.has_open_objects or not is_open:
            schema.update(self._members(node))
        schema["type"] = "object"
        kinds = self._kinds_of(node)
        if kinds:
            schema["x-kubernetes-group-version-kind"] = kinds
        if is_open:
            schema[ANYTHING] = True
        map_type = getattr(node.cls, "__map_type__", None)
        if map_type:
            schema["x-kubernetes-map-type"] = map_type
        return schema

    def _structural(self, node: _Node, source: Mapping[str, Any]) -> Schema:
        """A kind that is defined by a schema: that, and what every kind has."""
        schema = published(source, self.dialect)
        if self.dialect.has_open_objects or "x-kubernetes-preserve-unknown-fields" not in schema:
            own = schema.get("properties") or {}
            meta = {field.wire: self._property(node, field) for field in _fields(node)}
            schema["properties"] = dict(sorted({**own, **meta}.items()))
        schema["x-kubernetes-group-version-kind"] = self._kinds_of(node)
        if selectable := getattr(node.cls, "__selectable__", ()):
            schema["x-kubernetes-selectable-fields"] = [{"fieldPath": path} for path in selectable]
        return schema

    def _members(self, node: _Node) -> Schema:
        members: Schema = {}
        fields = _fields(node)
        properties = {field.wire: self._property(node, field) for field in fields}
        if node.item is not None:
            properties["items"] = {
                "description": "The objects.",
                "items": self._refer(node.item),
                "type": "array",
            }
        if properties:
            members["properties"] = dict(sorted(properties.items()))
        required = [field.wire for field in fields if is_required(field)]
        if node.item is not None:
            required.append("items")
        if required:
            members["required"] = required
        return members

    def _property(self, node: _Node, field: ModelField) -> Schema:
        place = f"{node.cls.__qualname__}.{field.name}"
        schema = self._type(field.type, node.version, place)
        return self.dialect.beside(schema, around(node.cls, field, self.dialect))

    def _type(self, info: TypeInfo, version: GroupVersion, place: str) -> Schema:
        bare = bare_scalar(info)
        if bare is not None:
            return bare
        schema = self._bare_type(info, version, place)
        return self.dialect.beside(schema, constraints(info, schema))

    def _bare_type(self, info: TypeInfo, version: GroupVersion, place: str) -> Schema:
        scalar = named_scalar(info)
        if scalar is not None:
            return self.dialect.reference(scalar.name)
        if info.category == "any":
            return {ANYTHING: True}
        if info.category == "model":
            return self._refer(self._node(info.python, version))
        if info.item is not None:
            held = self._held(info.item, version, place)
            if info.category == "list":
                return {"items": held, "type": "array"}
            return {"additionalProperties": held, "type": "object"}
        arms = _arms(info)
        if not arms:
            return plain_scalar(info, place)
        if not self.dialect.has_one_of:
            return {ANYTHING: True}
        return {"oneOf": [self._type(arm, version, place) for arm in arms]}

    def _held(self, info: TypeInfo, version: GroupVersion, place: str) -> Schema:
        """What a list or a map holds; here null is a value, which it is not in a field."""
        schema = self._type(info, version, place)
        if info.optional and self.dialect.has_one_of:
            return self.dialect.beside(schema, {"nullable": True})
        return schema

    def _kinds_of(self, node: _Node) -> list[dict[str, str]]:
        if node.kind:
            found: Iterable[GroupVersionKind] = [node.version.with_kind(node.kind)]
        elif node.cls in _IN_EVERY_VERSION:
            versions = {_CORE, *(each.kind.group_version for each in self._kinds)}
            found = (version.with_kind(node.cls.__name__) for version in versions)
        elif node.cls in _EVERYWHERE:
            found = [_CORE.with_kind(node.cls.__name__)]
        else:
            found = []
        return [kind_marker(kind) for kind in sorted(found)]


_IN_EVERY_VERSION: Final[Sequence[type[BaseModel]]] = (DeleteOptions, WatchEvent)
_EVERYWHERE: Final[Sequence[type[BaseModel]]] = (*_IN_EVERY_VERSION, APIResourceList, Status)


def kind_marker(kind: GroupVersionKind) -> dict[str, str]:
    """A kind as the `x-kubernetes-group-version-kind` markers write it."""
    return {"group": kind.group, "kind": kind.kind, "version": kind.version}


def _fields(node: _Node) -> tuple[ModelField, ...]:
    fields = fields_of(node.cls)
    return fields if node.item is None else tuple(f for f in fields if f.name != "items")


def _arms(info: TypeInfo) -> tuple[TypeInfo, ...]:
    """The alternatives of a union that is not among the named scalars."""
    if info.category != "scalar" or get_origin(info.python) not in (Union, UnionType):
        return ()
    return tuple(type_info(arm) for arm in get_args(info.python))


def _description(node: _Node) -> str:
    if node.item is not None:
        return f"A list of objects of kind {node.item.kind or node.item.cls.__name__}."
    origin = node.cls.__pydantic_generic_metadata__["origin"] or node.cls
    return reflowed(origin.__doc__ or "")
