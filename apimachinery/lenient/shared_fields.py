"""Shared field sets: one dict for all equal `fieldsV1` of decoded objects.

Objects that one program wrote have equal sets of managed fields, and the set of a pod takes more
memory than the rest of it. Unrelated objects share a set, also after a deep copy, so it refuses to
be changed in place.

Half of the JSON of a pod are such sets. Those that are known are cut out of a document before it is
parsed: each is found by its text.
"""

from typing import Any, Final, NoReturn

import orjson

from apimachinery.lenient.level_plan import is_too_deep
from apimachinery.lenient.plain_json import load_plain
from apimachinery.scalars.wire_types import FieldsV1

MAX_SETS: Final = 512
MAX_BYTES: Final = 16 * 1024
"""Bytes of the largest set that is kept: together with MAX_SETS, a bound for all of them."""


class SharedFields:
    """The sets of fields that were decoded last."""

    def __init__(self) -> None:
        self._sets: dict[bytes, FieldsV1] = {}
        self._recent: tuple[tuple[bytes, FieldsV1], ...] = ()

    def share(self, fields: dict[str, Any]) -> FieldsV1:
        """Return a set that equals *fields*: itself, or an immutable one that others have, too."""
        try:
            key = orjson.dumps(fields)
        except orjson.JSONEncodeError:  # nested too deeply: refused when it is read
            return fields
        # A valid set has no lists, which could be changed; a name with a bracket is rare.
        if len(key) > MAX_BYTES or b"[" in key:
            return fields
        shared = self._sets.get(key)
        if shared is None:
            if is_too_deep(fields):
                return fields
            if len(self._sets) >= MAX_SETS:
                self._sets.clear()
            shared = self._sets[key] = _freeze(fields)
        return shared

    def load(self, data: bytes) -> Any:
        """Parse an object as `load_plain` does, except for the sets that are known.

        Raises ValueError, or Unusual.
        """
        shortened, known = self._cut(data)
        if known:
            document = load_plain(shortened)
            if _restore(document, known):
                return document
        return load_plain(data)

    def _cut(self, data: bytes) -> tuple[bytes, list[FieldsV1]]:
        """Replace each known set in *data* by its number; return them as well, in order.

        Within a string of JSON the quotes of a key are escaped, so a key that is found is one. What
        follows is a value, and a value that begins with the text of an object is that object.
        """
        known: list[FieldsV1] = []
        parts: list[bytes] = []
        copied, start = 0, data.find(_KEY)
        while start >= 0 and len(known) < _MAX_ENTRIES:
            start += len(_KEY)
            text, fields = self._known_at(data, start)
            if fields is None:
                break
            parts += data[copied:start], b"%d" % len(known)
            known.append(fields)
            copied = start + len(text)
            end = data.find(b"}", copied)
            # The list of entries ends here: the rest of the document need not be searched.
            start = -1 if data.startswith(b"}]", end) else data.find(_KEY, end)
        return b"".join((*parts, data[copied:])), known

    def _known_at(self, data: bytes, start: int) -> tuple[bytes, FieldsV1 | None]:
        """Return the known set that begins at *start*, and its text."""
        for text, fields in self._recent:
            if data.startswith(text, start):
                return text, fields
        limit = start + MAX_BYTES
        end = data.find(_NEXT_ENTRY, start, limit)
        end = end if end >= 0 else data.find(_LAST_ENTRY, start, limit)
        text = data[start:end] if end >= 0 else b""
        if text.endswith(b'"'):
            text = text[: text.rfind(_SUBRESOURCE)]
        known = self._sets.get(text)
        if known is not None:
            self._recent = ((text, known), *self._recent[: _RECENT - 1])
        return text, known


_KEY: Final = b'"fieldsV1":'
_NEXT_ENTRY: Final = b'},{"manager":'
_LAST_ENTRY: Final = b"}]"
_SUBRESOURCE: Final = b',"subresource":'
_MAX_ENTRIES: Final = 64
"""The most sets that are cut out of one document."""
_RECENT: Final = 8
"""Sets that are compared first: objects of one kind that arrive together have the same."""


def _restore(document: Any, known: list[FieldsV1]) -> bool:
    """Put the sets back in place of their numbers; return False if one was not where it belongs."""
    try:
        entries = [
            entry
            for entry in document["metadata"]["managedFields"]
            if type(entry.get("fieldsV1")) is int
        ]
    except (AttributeError, KeyError, TypeError):
        return False
    if [entry["fieldsV1"] for entry in entries] != list(range(len(known))):
        return False
    for entry, fields in zip(entries, known, strict=True):
        entry["fieldsV1"] = fields
    return True


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("fieldsV1 is shared with other objects: assign a changed copy.deepcopy() of it")


class _FrozenFields(dict[str, Any]):
    """A dict that cannot be changed; its copies can."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (list(self.items()),)


def _freeze(value: Any) -> Any:
    if type(value) is dict:
        return _FrozenFields({name: _freeze(item) for name, item in value.items()})
    return value
