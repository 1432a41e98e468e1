"""Created fields: the FieldsV1 of new objects, remembered by the structure of the objects.

A controller creates thousands of objects that differ in their values only, and the writer of each
owns the same fields. The sets are in canonical order and never changed in place, so that objects
share them.
"""

from collections.abc import Callable, Hashable
from typing import Final

import orjson

from apimachinery.apply.fieldset import FieldsV1

# Together these limits bound the memory that clients can fill with structures.
MAX_STRUCTURES: Final = 128
MAX_BYTES: Final = 4096
"""The length of FieldsV1 as JSON; longer ones are not remembered."""


class CreatedFields:
    """The FieldsV1 of the latest structures of one resource; all are forgotten when it is full."""

    def __init__(self) -> None:
        self._fields: dict[Hashable, FieldsV1] = {}

    def clear(self) -> None:
        self._fields.clear()

    def of(self, structure: Hashable, compute: Callable[[], FieldsV1]) -> FieldsV1:
        """Return the fields of a structure, computed when it is new."""
        fields = self._fields.get(structure)
        if fields is None:
            fields = compute()
            if len(orjson.dumps(fields)) <= MAX_BYTES:
                if len(self._fields) >= MAX_STRUCTURES:
                    self._fields.clear()
                self._fields[structure] = fields
        return fields
