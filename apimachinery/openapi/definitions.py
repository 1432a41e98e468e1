"""OpenAPI definitions: one named schema for every type that the published kinds consist of.

`Definitions` collects all types first, then names them, then writes the schemas, because a name
depends on collisions with all the others. A class that several versions share gets a definition in
each of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from apimachinery.meta.discovery import APIGroup, APIGroupList, APIResourceList, APIVersions
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object, ObjectList, WatchEvent
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of, type_info
from apimachinery.model.declared_rules import selectable_fields
from apimachinery.model.model import Model
from apimachinery.openapi.custom_schemas import custom_schema
from apimachinery.openapi.definition_names import (
    VersionIndex,
    is_meta,
    item_of,
    schema_name,
    unique,
)
from apimachinery.openapi.dialect import Dialect, Schema
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.properties import (
    is_required,
    property_annotations,
    published_values,
    reflow,
)
from apimachinery.openapi.scalar_schemas import (
    PRESERVE_UNKNOWN,
    NamedScalar,
    bare_scalar,
    constraints,
    named_scalar,
    plain_scalar,
)
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.structural.structural_schema import structural_of

_META_VERSION: Final = GroupVersion("meta.k8s.io", "v1")
_CORE: Final = GroupVersion("", "v1")


@dataclass(frozen=True, slots=True)
class PublishedKind:
    """A kind and its class; *list_kind* is empty if the kind cannot be listed."""

    kind: GroupVersionKind
    cls: type[BaseModel]
    list_kind: str = ""


@dataclass(frozen=True, slots=True)
class _Node:
    """One definition: a class in a version, and the kind it is registered as, if any."""

    cls: type[BaseModel]
    version: GroupVersion
    kind: str = ""
    item: "_Node | None" = None
    """The item of a list; `cls` is then ObjectList itself."""

    @property
    def order(self) -> tuple[Any, ...]:
        """Return the sort key: kinds come first, so that they keep their names on a collision."""
        return (not self.kind, self.cls.__module__, self.cls.__qualname__, self.version, self.kind)


class Definitions:
    """The definitions of some kinds and of all types they refer to, in one dialect.

    *index* maps classes that are defined outside the modules of these kinds to their versions.
    *versions* are those that the definitions are published for, if not all versions of the kinds,
    and *meta* the types of no group that the document refers to.
    """

    def __init__(
        self,
        dialect: Dialect,
        kinds: Iterable[PublishedKind],
        *,
        index: VersionIndex | None = None,
        versions: Iterable[GroupVersion] = (),
        meta: Iterable[type[BaseModel]] = (),
    ) -> None:
        self.dialect = dialect
        self._kinds = sorted(set(kinds), key=lambda published: published.kind)
        self._versions = {*versions} or {each.kind.group_version for each in self._kinds}
        self._meta = [*meta]
        self._index = index or VersionIndex(
            (published.kind.group_version, published.cls) for published in self._kinds
        )
        self._by_class: dict[tuple[type[BaseModel], GroupVersion], _Node] = {}
        self._by_kind: dict[GroupVersionKind, _Node] = {}
        self._lists: dict[_Node, _Node] = {}
        self._scalars: dict[str, NamedScalar] = {}
        for published in self._kinds:
            self._add_kind(published)
        self._names = self._assign_names(self._collect())

    def reference(self, kind: GroupVersionKind) -> Schema:
        """Return a reference to a kind, or to the list kind of one.

        Raises UnpublishableType if the kind is not among the published ones.
        """
        node = self._by_kind.get(kind)
        if node is None:
            raise UnpublishableType(str(kind), "the kind is not published in these definitions")
        return self._refer(node)

    def meta_reference(self, cls: type[BaseModel]) -> Schema:
        """Return a reference to a type of no group, such as Status."""
        return self._refer(self._node(cls, _META_VERSION))

    def schemas(self) -> dict[str, Schema]:
        """Return all definitions, sorted by name."""
        schemas = {name: self._schema(node) for node, name in self._names.items()}
        schemas |= {name: scalar.schema(self.dialect) for name, scalar in self._scalars.items()}
        return dict(sorted(schemas.items()))

    def _add_kind(self, published: PublishedKind) -> None:
        version, cls = published.kind.group_version, published.cls
        if published.kind in self._by_kind:
            raise UnpublishableType(str(published.kind), "two classes are published as this kind")
        node = self._by_kind[published.kind] = _Node(cls, version, published.kind.kind)
        self._by_class.setdefault((cls, version), node)
        if published.list_kind:
            list_node = _Node(ObjectList, version, published.list_kind, node)
            self._lists[node] = list_node
            list_kind = version.with_kind(published.list_kind)
            if self._by_kind.setdefault(list_kind, list_node) != list_node:
                raise UnpublishableType(
                    str(published.kind), f"its list kind {list_kind} is published by another class"
                )

    def _collect(self) -> list[_Node]:
        """Collect the nodes of all kinds and, transitively, of their fields."""
        pending = [*self._by_kind.values()]
        pending += [self._node(cls, _META_VERSION) for cls in self._meta]
        nodes: dict[_Node, None] = dict.fromkeys(pending)
        while pending:
            node = pending.pop()
            for child in self._children(node):
                if child not in nodes:
                    nodes[child] = None
                    pending.append(child)
        return sorted(nodes, key=lambda node: node.order)

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
            for alternative in _alternatives(info):
                yield from self._in_type(alternative, version)

    def _node(self, cls: type[BaseModel], version: GroupVersion) -> _Node:
        """Return the node of *cls* as a type of *version* refers to it."""
        item = item_of(cls)
        if item is not None:
            item_node = self._node(item, version)
            list_kind = f"{item_node.kind or item.__name__}List"
            list_node = _Node(ObjectList, item_node.version, list_kind, item_node)
            return self._lists.get(item_node, list_node)
        if is_meta(cls):
            return self._by_class.get((cls, version)) or _Node(cls, _META_VERSION)
        own_version = self._index.version_of(cls, version)
        return self._by_class.get((cls, own_version)) or _Node(cls, own_version)

    def _assign_names(self, nodes: Iterable[_Node]) -> dict[_Node, str]:
        names: dict[_Node, str] = {}
        used_names = set(self._scalars)
        for node in nodes:
            name = names[node] = unique(schema_name(node.cls, node.version, node.kind), used_names)
            used_names.add(name)
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
            schema[PRESERVE_UNKNOWN] = True
        map_type = getattr(node.cls, "__map_type__", None)
        if map_type:
            schema["x-kubernetes-map-type"] = map_type
        if node.kind and node.item is None:
            schema.update(_selectable(selectable_fields(node.cls)))
        return schema

    def _structural(self, node: _Node, source: Mapping[str, Any]) -> Schema:
        """Return the schema that defines a custom kind, with the fields that every kind has."""
        schema = custom_schema(source, self.dialect)
        if self.dialect.has_open_objects or "x-kubernetes-preserve-unknown-fields" not in schema:
            own = schema.get("properties") or {}
            meta = {field.wire: self._property(node, field) for field in _fields(node)}
            schema["properties"] = dict(sorted({**own, **meta}.items()))
        else:
            # As Kubernetes does, for the clients of v2, which cannot say that a kind is open.
            del schema["x-kubernetes-preserve-unknown-fields"]
        schema["x-kubernetes-group-version-kind"] = self._kinds_of(node)
        schema.update(_selectable(getattr(node.cls, "__selectable__", ())))
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
        if values := published_values(field.markers):
            schema = _with_values(schema, values)
        return self.dialect.extend(schema, property_annotations(node.cls, field, self.dialect))

    def _type(self, info: TypeInfo, version: GroupVersion, place: str) -> Schema:
        bare = bare_scalar(info)
        if bare is not None:
            return bare
        schema = self._bare_type(info, version, place)
        return self.dialect.extend(schema, constraints(info, schema))

    def _bare_type(self, info: TypeInfo, version: GroupVersion, place: str) -> Schema:
        scalar = named_scalar(info)
        if scalar is not None:
            return self.dialect.reference(scalar.name)
        if info.category == "any":
            return {PRESERVE_UNKNOWN: True}
        if info.category == "model":
            return self._refer(self._node(info.python, version))
        if info.item is not None:
            item = self._item(info.item, version, place)
            if info.category == "list":
                return {"items": item, "type": "array"}
            return {"additionalProperties": item, "type": "object"}
        alternatives = _alternatives(info)
        if not alternatives:
            return plain_scalar(info, place)
        if not self.dialect.has_one_of:
            return {PRESERVE_UNKNOWN: True}
        return {"oneOf": [self._type(alternative, version, place) for alternative in alternatives]}

    def _item(self, info: TypeInfo, version: GroupVersion, place: str) -> Schema:
        """Return the schema of list items or map values, where null is a value.

        In a field null means absent.
        """
        schema = self._type(info, version, place)
        if info.optional and self.dialect.has_one_of:
            return self.dialect.extend(schema, {"nullable": True})
        return schema

    def _kinds_of(self, node: _Node) -> list[dict[str, str]]:
        if node.kind:
            kinds: Iterable[GroupVersionKind] = [node.version.with_kind(node.kind)]
        elif node.cls in _IN_EVERY_VERSION:
            kinds = (v.with_kind(node.cls.__name__) for v in {_CORE, *self._versions})
        elif node.cls in _IN_CORE:
            kinds = [_CORE.with_kind(node.cls.__name__)]
        elif issubclass(node.cls, Object) and not is_meta(node.cls):
            kinds = [node.version.with_kind(node.cls.__kind__)]
        else:
            kinds = []
        return [kind_marker(kind) for kind in sorted(kinds)]


_IN_EVERY_VERSION: Final[Sequence[type[BaseModel]]] = (DeleteOptions, WatchEvent)
_IN_CORE: Final[Sequence[type[BaseModel]]] = (
    APIGroup,
    APIGroupList,
    APIResourceList,
    APIVersions,
    Status,
)


class Patch(Model):
    """A patch, in the format of the request's content type."""


def kind_marker(kind: GroupVersionKind) -> dict[str, str]:
    """Return a kind as an `x-kubernetes-group-version-kind` marker."""
    return {"group": kind.group, "kind": kind.kind, "version": kind.version}


def _selectable(paths: Iterable[str]) -> Schema:
    """Return the extension for the fields that field selectors can select by, if there are any."""
    fields = [{"fieldPath": path} for path in paths]
    return {"x-kubernetes-selectable-fields": fields} if fields else {}


def _fields(node: _Node) -> tuple[ModelField, ...]:
    fields = fields_of(node.cls)
    return fields if node.item is None else tuple(f for f in fields if f.name != "items")


def _with_values(schema: Schema, values: Sequence[str]) -> Schema:
    """Return *schema* with the values of its strings: of its items if it is a list or map."""
    for key in ("items", "additionalProperties"):
        if key in schema:
            return {**schema, key: _with_values(schema[key], values)}
    return {**schema, "enum": list(values)}


def _alternatives(info: TypeInfo) -> tuple[TypeInfo, ...]:
    """Return the alternatives of a union that is not a named scalar; empty for other types."""
    if info.category != "scalar" or get_origin(info.python) not in (Union, UnionType):
        return ()
    return tuple(type_info(alternative) for alternative in get_args(info.python))


def _description(node: _Node) -> str:
    if node.item is not None:
        return f"A list of objects of kind {node.item.kind or node.item.cls.__name__}."
    origin = node.cls.__pydantic_generic_metadata__["origin"] or node.cls
    return reflow(origin.__doc__ or "")
