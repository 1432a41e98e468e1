"""Ratcheting: an update is refused for new errors only, not for those that the object had before.

Rules become stricter while objects are stored. The errors that the current object has as well are
subtracted from those of an update, so that an object with an old value that today's rules refuse
can still be labelled, scaled and finalized.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from apimachinery.errors import MAX_CAUSES
from apimachinery.fieldpath import FieldError

_INDEX: Final = re.compile(r"\[\d+\]")

_Key = tuple[str, str, str]


def new_errors(errors: Iterable[FieldError], old: Iterable[FieldError]) -> list[FieldError]:
    """Return *errors* without those that are in *old* too: same type, path, value and detail.

    Elements of a list may have moved, so indices in paths are ignored. Each old error cancels one
    error only, with the same index if possible: a copy of an invalid element is a new error.
    """
    errors, old = list(errors), list(old)
    if not old:
        return errors
    # Each old error cancels one at most, and no response reports more than the rest.
    errors = errors[: len(old) + MAX_CAUSES + 1]
    remaining, left = _subtract(errors, old, _key)
    remaining, _ = _subtract(remaining, left, _key_without_indices)
    return remaining


def _subtract(
    errors: list[FieldError], old: list[FieldError], key: Callable[[FieldError], _Key]
) -> tuple[list[FieldError], list[FieldError]]:
    """Return the errors that are not in *old*, and the old ones that cancelled none."""
    common = Counter(map(key, errors)) & Counter(map(key, old))
    return _drop(errors, common.copy(), key), _drop(old, common, key)


def _drop(
    errors: list[FieldError], counts: Counter[_Key], key: Callable[[FieldError], _Key]
) -> list[FieldError]:
    kept = []
    for error in errors:
        if counts[key(error)] > 0:
            counts[key(error)] -= 1
        else:
            kept.append(error)
    return kept


def _key(error: FieldError) -> _Key:
    # The body has the value as JSON with sorted keys: clients may order the same map differently.
    return error.type, error.field, error.body


def _key_without_indices(error: FieldError) -> _Key:
    path = _INDEX.sub("[]", error.field)
    # Messages about constraints repeat the path.
    return error.type, path, error.body.replace(error.field, path)
