"""Strict decoding: list the unknown and duplicate fields of a document.

The decoder detects unknown fields and the serializer detects duplicate ones, both of which are
rare. Only then is the document parsed again here, because Kubernetes lists both kinds together, in
the order of the document.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from apimachinery.fieldpath import Path
from apimachinery.model.class_fields import TypeInfo, fields_of, type_info
from apimachinery.model.decoding import MAX_DEPTH, load_json, union_model
from apimachinery.scalars.wire_types import OWN_DECODER

MAX_PROBLEMS: Final = 100
"""The maximum number of problems reported for one document."""

_ANY: Final = TypeInfo("any", Any)


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in the order of the document, duplicates included."""


def strict_decoding_problems(data: bytes | str, annotation: Any = Any) -> tuple[str, ...]:
    """Return a message for each unknown or duplicate field of a JSON document.

    *annotation* is the type of the document: a class, or a list of one; with `Any` no field is
    unknown. Raises DecodeError if *data* is not JSON.
    """
    document, info = load_json(data, object_pairs_hook=_Members), type_info(annotation)
    return tuple(islice(dict.fromkeys(_problems(document, info, Path(), 0)), MAX_PROBLEMS))


def _problems(value: Any, info: TypeInfo, path: Path, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH or info.marked(OWN_DECODER):  # the decoder rejects deeper documents
        return
    if isinstance(value, _Members):
        yield from _problems_in_object(value, info, path, depth)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _problems(item, info.item or _ANY, path.index(position), depth + 1)


def _problems_in_object(members: _Members, info: TypeInfo, path: Path, depth: int) -> Iterator[str]:
    fields, is_closed = _declared_fields(info)
    earlier: set[str] = set()
    for name, value in members:
        field_path = path.member(name)
        if is_closed and name not in fields:
            yield f'unknown field "{field_path}"'
            continue
        if name in earlier:
            yield f'duplicate field "{field_path}"'
        earlier.add(name)
        yield from _problems(value, fields.get(name, info.item or _ANY), field_path, depth + 1)


def _declared_fields(info: TypeInfo) -> tuple[dict[str, TypeInfo], bool]:
    """Return the declared fields of a type, and whether it allows no others."""
    model = info if info.category == "model" else union_model(info)
    if model is None:
        return {}, False
    fields = {field.wire: field.type for field in fields_of(model.python)}
    return fields, model.python.model_config.get("extra") != "allow"
