"""Shared field sets: one dict for all equal `fieldsV1` of decoded objects.

Objects that one program wrote have equal sets of managed fields, and the set of a pod takes more
memory than the rest of it. Unrelated objects share a set, also after a deep copy, so it refuses to
be changed in place.
"""

from typing import Any, Final, NoReturn

import orjson

from apimachinery.lenient.level_plan import is_too_deep
from apimachinery.scalars.wire_types import FieldsV1

MAX_SETS: Final = 512
MAX_BYTES: Final = 16 * 1024
"""Bytes of the largest set that is kept: together with MAX_SETS, a bound for all of them."""


class SharedFields:
    """The sets of fields that were decoded last."""

    def __init__(self) -> None:
        self._sets: dict[bytes, FieldsV1] = {}

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
