"""Recorded shapes: files with the field tree of a released shape and documents stored in it.

A file is `<group>/<Kind>/<fingerprint>.json`. It is written once, by the release that stores
objects in that shape, and never changed: stores have documents like these.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from apimachinery.evolution.field_tree import FieldTree


@dataclass(frozen=True, slots=True)
class RecordedShape:
    """One shape in which releases of a project have stored objects of a kind."""

    path: Path
    api_version: str
    """The version under which the documents are stored."""
    generation: int
    """Which shape of the kind it is, counted from 1; shapes of two branches may have one number."""
    steps: tuple[str, ...]
    """The upgrade steps in words that were declared by then: their functions have been called."""
    tree: FieldTree
    documents: Mapping[str, bytes]
    """Name -> stored bytes."""

    @property
    def fingerprint(self) -> str:
        return self.tree.fingerprint

    def write(self) -> None:
        """Write the file. Raises FileExistsError: recorded shapes are never changed."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("x") as file:
            file.write(self._to_json())

    def _to_json(self) -> str:
        documents = {name: orjson.loads(data) for name, data in self.documents.items()}
        head = {
            "apiVersion": self.api_version,
            "generation": self.generation,
            "steps": list(self.steps),
            "documents": documents,
        }
        text = orjson.dumps(head, option=orjson.OPT_INDENT_2).decode().removesuffix("\n}")
        types = ",\n".join(_tree_type(node) for node in self.tree.to_json())
        return f'{text},\n  "tree": [\n{types}\n  ]\n}}\n'


def read_recorded_shapes(folder: Path) -> list[RecordedShape]:
    """Return the recorded shapes of a kind, the oldest first. Raises ValueError."""
    shapes = [_read(path) for path in sorted(folder.glob("*.json"))]
    return sorted(shapes, key=lambda shape: shape.generation)


def new_recorded_shape(
    folder: Path,
    api_version: str,
    tree: FieldTree,
    documents: Mapping[str, bytes],
    *,
    steps: Iterable[str],
    older: Iterable[RecordedShape],
) -> RecordedShape:
    """Return the shape that follows *older* ones; it is not written yet."""
    path = folder / f"{tree.fingerprint}.json"
    if path.exists():  # the same fields, stored under another version
        path = folder / f"{tree.fingerprint}-{api_version.rpartition('/')[2]}.json"
    generation = max((shape.generation for shape in older), default=0) + 1
    return RecordedShape(path, api_version, generation, tuple(steps), tree, documents)


def _read(path: Path) -> RecordedShape:
    try:
        content = orjson.loads(path.read_bytes())
        tree = FieldTree.from_json(content["tree"])
        # A later release may compute fingerprints of more facts: the documents have this one.
        tree.fingerprint = path.stem.partition("-")[0]
        documents = {name: orjson.dumps(value) for name, value in content["documents"].items()}
        return RecordedShape(
            path,
            content["apiVersion"],
            content["generation"],
            tuple(content["steps"]),
            tree,
            documents,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a recorded shape: {error!r}") from error


def _tree_type(node: dict[str, Any]) -> str:
    """Return an object type with one line per field."""
    lines = [f"        {_line(name)}: {_line(field)}" for name, field in node["fields"].items()]
    fields = "{\n" + ",\n".join(lines) + "\n    }" if lines else "{}"
    is_open = ', "open": true' if node.get("open") else ""
    return f'    {{"fields": {fields}{is_open}}}'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
