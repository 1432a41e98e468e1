"""Shared field sets: one dict for all equal `fieldsV1` of decoded objects.

Objects that one program wrote have equal sets of managed fields, and the set of a pod takes more
memory than the rest of it. A set is never changed in place, so that objects can share it.
"""

from typing import Any, Final

import orjson

from apimachinery.scalars.wire_types import FieldsV1

MAX_SETS: Final = 512
MAX_BYTES: Final = 16 * 1024
"""Bytes of the largest set that is kept: together with MAX_SETS, a bound for all of them."""


class SharedFields:
    """The sets of fields that were decoded last."""

    def __init__(self) -> None:
        self._sets: dict[bytes, FieldsV1] = {}

    def share(self, fields: dict[str, Any]) -> FieldsV1:
        """Return a set that equals *fields*: an earlier one if there is one."""
        key = orjson.dumps(fields)
        if len(key) > MAX_BYTES:
            return fields
        shared = self._sets.get(key)
        if shared is None:
            if len(self._sets) >= MAX_SETS:
                self._sets.clear()
            shared = self._sets[key] = fields
        return shared
