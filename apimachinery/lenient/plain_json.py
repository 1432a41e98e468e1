"""Plain JSON: parse documents fast, except those of which the fast parser would lose something.

orjson turns integers above 64 bits into floats. A field of any type, such as the data of a
ControllerRevision, may have one, and a client that writes the object back would change it.
"""

import re
from typing import Any, Final

import orjson

from apimachinery.lenient.level_plan import Unusual


def load_plain(data: bytes | str) -> Any:
    """Parse a document; raises ValueError, or Unusual if it has an integer above 64 bits."""
    if has_large_integer(data.encode() if isinstance(data, str) else data):
        raise Unusual
    return orjson.loads(data)


def has_large_integer(data: bytes) -> bool:
    """Return whether a document may have an integer of 20 digits, the least above 64 bits.

    Without false negatives. Digits within a word, as in a checksum, are no number.
    """
    digits = data.translate(_DIGITS_AND_DELIMITERS)
    start = digits.find(_TOO_MANY)
    while start >= 0:
        if _BEFORE_NUMBER.search(data, max(start - 2, 0), start + 1):
            return True
        start = digits.find(_TOO_MANY, start + len(_TOO_MANY))
    return False


_TOO_MANY: Final = b":" + b"0" * 20
_DIGITS_AND_DELIMITERS: Final = bytes.maketrans(b"123456789,[- \t\r\n", b"000000000:::::::")
"""Maps digits to 0, and everything that may precede a number to a colon."""
_BEFORE_NUMBER: Final = re.compile(rb'(?:["\s]:|[\s,\[])-?\Z')
