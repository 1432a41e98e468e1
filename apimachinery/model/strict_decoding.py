"""What a document has beyond its class, in the order and the words of strict decoding.

The decoder says whether there is anything unknown and the serializer whether anything stands twice;
hardly ever there is. Only then the document is read once more, as it was written, because answers
and warnings tell both in the order in which they stand there.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from apimachinery.model.class_fields import TypeInfo, fields_of, type_info
from apimachinery.model.decoding import MAX_DEPTH, load_json, model_arm

MAX_PROBLEMS: Final = 100
"""How many are told of one document."""

_ANY: Final = TypeInfo("any", Any)


class _Members(list[tuple[str, Any]]):
    """The members of an object as they stand in the document, also those that stand twice."""


def problems_of(data: bytes | str, annotation: Any = Any) -> tuple[str, ...]:
    """Unknown and repeated fields of a JSON document, each told once.

    *annotation* is what the document should be: a class, a list of one; in anything at all nothing
    is unknown. Raises DecodeError for what is no JSON.
    """
    document, kind = load_json(data, object_pairs_hook=_Members), type_info(annotation)
    return tuple(islice(dict.fromkeys(_problems(document, kind, "", 0)), MAX_PROBLEMS))


def _problems(value: Any, kind: TypeInfo, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:  # what is below is refused by the decoder
        return
    if isinstance(value, _Members):
        yield from _of_members(value, kind, path, depth)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _problems(item, kind.item or _ANY, f"{path}[{position}]", depth + 1)


def _of_members(members: _Members, kind: TypeInfo, path: str, depth: int) -> Iterator[str]:
    known, closed = _known(kind)
    seen: set[str] = set()
    for name, value in members:
        here = f"{path}.{name}" if path else name
        if closed and name not in known:
            yield f'unknown field "{here}"'
            continue
        if name in seen:
            yield f'duplicate field "{here}"'
        seen.add(name)
        yield from _problems(value, known.get(name, kind.item or _ANY), here, depth + 1)


def _known(kind: TypeInfo) -> tuple[dict[str, TypeInfo], bool]:
    """The fields of a type, and whether there are no others."""
    model = kind if kind.category == "model" else model_arm(kind)
    if model is None:
        return {}, False
    fields = {found.wire: found.type for found in fields_of(model.python)}
    return fields, model.python.model_config.get("extra") != "allow"
