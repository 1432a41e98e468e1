"""Document paths: the fields of documents by path, and the objects of a document at a path.

A path passes through lists and maps, and means every object of a recursive type: if a node has
children that are nodes, `spec.node.name` is the name of the node and of all nodes below it.

The same walk finds objects in documents, in the fieldsV1 of managedFields and in pairs of
documents; a `DocumentForm` says how each is entered.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

from apimachinery.evolution.field_tree import (
    FieldTree,
    TreeField,
    TypeTree,
    element_type,
    reference,
)

Document = dict[str, Any]
NodeT = TypeVar("NodeT")


class Fields(dict[str, TreeField]):
    """The fields of documents, by path. *root* is the number of their own type."""

    def __init__(self, fields: Mapping[str, TreeField], root: int = 0) -> None:
        super().__init__(fields)
        self.root: int = fields.root if isinstance(fields, Fields) else root

    @classmethod
    def of(cls, tree: FieldTree) -> "Fields":
        # A value of its own for each path, also where a type is used twice: steps move it.
        return cls({path: replace(field) for path, field in tree.paths()})

    @classmethod
    def renumbered(cls, tree: FieldTree) -> "Fields":
        """Return fields whose types have other numbers than those of any other tree."""
        fields = {path: replace(field, type=_renumber(field.type)) for path, field in tree.paths()}
        return cls(fields, root=_other(0))

    @cached_property
    def loops(self) -> dict[str, list[list[str]]]:
        """The path of an object of a recursive type -> the paths from it to objects of its type."""
        loops: dict[str, list[list[str]]] = {}
        for path, field in sorted(self.items()):
            number = reference(field.type)
            steps = path.split(".")
            for count in range(len(steps)) if number is not None else ():
                outer = ".".join(steps[:count])
                if self._number(outer) == number:
                    loops.setdefault(outer, []).append(steps[count:])
        return loops

    def _number(self, path: str) -> int | None:
        if not path:
            return self.root
        return reference(self[path].type) if path in self else None


class DocumentForm(Protocol[NodeT]):
    """How the nodes of some form of a document are entered."""

    def field(self, node: NodeT, name: str) -> NodeT | None:
        """Return the value of a field of an object, None if it has none."""

    def elements(self, node: NodeT, *, is_list: bool) -> Iterable[NodeT]:
        """Return the elements of a list or map; none if the node is of another type."""

    def is_object(self, node: NodeT) -> bool: ...


class PlainForm:
    """Documents as they are."""

    def field(self, node: Any, name: str) -> Any:
        return node.get(name)

    def elements(self, node: Any, *, is_list: bool) -> Iterable[Any]:
        if is_list:
            return node if isinstance(node, list) else ()
        return node.values() if isinstance(node, dict) else ()

    def is_object(self, node: Any) -> bool:
        return isinstance(node, dict)


ABSENT: Any = object()
"""What `take` returns if there is no value."""


def take(holder: Document, steps: list[str]) -> Any:
    """Remove and return a nested value, with the objects that are empty without it."""
    first, *rest = steps
    if not rest:
        return holder.pop(first, ABSENT)
    inner = holder.get(first)
    if not isinstance(inner, dict):
        return ABSENT
    value = take(inner, rest)
    if value is not ABSENT and not inner:
        del holder[first]
    return value


def objects_at(document: Document, steps: list[str], fields: Mapping[str, TreeField]) -> list[Any]:
    """Return every object at a path of a document."""
    return nodes_at(document, steps, fields, PlainForm())


def nodes_at(
    node: NodeT, steps: list[str], fields: Mapping[str, TreeField], form: DocumentForm[NodeT]
) -> list[NodeT]:
    """Return the nodes of every object at a path, outer ones first."""
    declared = fields if isinstance(fields, Fields) else Fields(fields)
    nodes = _with_loops([node], [], declared, form)
    for count, step in enumerate(steps, start=1):
        path = steps[:count]
        entered = [inner for outer in nodes for inner in _enter(outer, step, path, declared, form)]
        nodes = _with_loops(entered, path, declared, form)
    return nodes


def _with_loops(
    nodes: list[NodeT], steps: list[str], fields: Fields, form: DocumentForm[NodeT]
) -> list[NodeT]:
    """Return the nodes, and those of the same recursive type below them."""
    loops = fields.loops.get(".".join(steps), ())
    found = list(nodes)
    for node in found:  # grows while it is iterated over
        for loop in loops:
            inner = [node]
            for count, step in enumerate(loop, start=1):
                path = [*steps, *loop[:count]]
                inner = [new for old in inner for new in _enter(old, step, path, fields, form)]
            found += inner
    return found


def _enter(
    node: NodeT, step: str, path: list[str], fields: Fields, form: DocumentForm[NodeT]
) -> Iterator[NodeT]:
    value = form.field(node, step)
    if value is not None:
        declared = fields.get(".".join(path))
        yield from _objects(value, declared.type if declared else "object", form)


def _objects(node: NodeT, tree: TypeTree, form: DocumentForm[NodeT]) -> Iterator[NodeT]:
    match tree:
        case {"list": item} | {"map": item}:
            for element in form.elements(node, is_list="list" in tree):
                yield from _objects(element, item, form)
        case {"union": _}:
            yield from _objects(node, element_type(tree), form)
        case _:
            if form.is_object(node):
                yield node


def _renumber(tree: TypeTree) -> TypeTree:
    match tree:
        case {"ref": int(number)}:
            return {"ref": _other(number)}
        case {"list": item}:
            return {"list": _renumber(item)}
        case {"map": item}:
            return {"map": _renumber(item)}
        case {"union": alternatives}:
            return {"union": [_renumber(alternative) for alternative in alternatives]}
        case _:
            return tree


def _other(number: int) -> int:
    return -1 - number
