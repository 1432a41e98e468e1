"""Strategies: generate objects of any Model with hypothesis, from the fields of the class.

Values obey the declared constraints and the precision of the wire (whole seconds for a Time), so
that every generated object could have been decoded.
"""

import string
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel

from apimachinery.meta.types import ObjectMeta, TypeMeta
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model, new_model
from apimachinery.scalars.intstr import INT_OR_STRING
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MICRO_TIME, TIME
from apimachinery.scalars.wire_types import INT64_MAX, INT64_MIN

ModelT = TypeVar("ModelT", bound=Model)

Strategies = Mapping[Any, st.SearchStrategy[Any]]
"""Overrides: a class, or (class, name of a field) -> the strategy that generates it."""

MAX_DEPTH = 4
"""Optional parts below this depth are omitted, so that recursive types end."""


def objects(cls: type[ModelT], overrides: Strategies | None = None) -> st.SearchStrategy[ModelT]:
    """Return a strategy for objects of *cls* with any of their fields set."""
    return _Generator(overrides or {}).model(cls, 0)


class _Generator:
    def __init__(self, overrides: Strategies) -> None:
        self._overrides = overrides
        self._models: dict[tuple[type, int], st.SearchStrategy[Any]] = {}

    def model(self, cls: type[Any], depth: int) -> st.SearchStrategy[Any]:
        if cls in self._overrides:
            return self._overrides[cls]
        if (cls, depth) not in self._models:
            fields = {f.name: self._field(cls, f, depth) for f in fields_of(cls)}
            # Hypothesis draws in an order of its own; a Model keeps the order of its class.
            model = st.fixed_dictionaries(fields).map(
                lambda values: new_model(cls, {name: values[name] for name in fields})
            )
            self._models[cls, depth] = model
        return self._models[cls, depth]

    def _field(self, cls: type[BaseModel], field: ModelField, depth: int) -> st.SearchStrategy[Any]:
        override = self._overrides.get((cls, field.name))
        if override is not None:
            return override
        if issubclass(cls, TypeMeta) and field.name in ("kind", "api_version"):
            return st.just("")  # the codec sets the kind of an object
        if cls is ObjectMeta and field.name in ("managed_fields", "resource_version", "self_link"):
            return st.just(field.default)  # set by the server, and tested there
        if field.required:
            return self._type(field.type, depth)
        return st.one_of(st.builds(lambda: field.default), self._non_default(field, depth))

    def _non_default(self, field: ModelField, depth: int) -> st.SearchStrategy[Any]:
        """Return a strategy for values other than the default, mostly not empty.

        Only objects that have a field show that a conversion loses it.
        """
        kind = field.type
        if depth >= MAX_DEPTH or (kind.optional and field.default is not None):
            return self._type(kind, depth)
        return self._present(kind, depth, min_size=1)

    def _type(self, kind: TypeInfo, depth: int) -> st.SearchStrategy[Any]:
        if not kind.optional:
            return self._present(kind, depth)
        if depth >= MAX_DEPTH:
            return st.none()
        return st.one_of(st.none(), self._present(kind, depth))

    def _present(self, kind: TypeInfo, depth: int, min_size: int = 0) -> st.SearchStrategy[Any]:
        if kind.category == "model":
            return self.model(kind.python, depth + 1)
        if kind.category == "any":
            return _json
        if kind.item is None:
            return _scalar(kind)
        low, high = _lengths(kind)
        low = min(max(low, min_size), high)
        if depth >= MAX_DEPTH and low == 0:
            return st.builds(kind.python)
        item = self._type(kind.item, depth + 1)
        if kind.category == "list":
            return st.lists(item, min_size=low, max_size=high)
        return st.dictionaries(_words, item, min_size=low, max_size=high)


def _lengths(kind: TypeInfo) -> tuple[int, int]:
    low = next((m.min_length for m in kind.metadata if isinstance(m, MinLen)), 0)
    high = next((m.max_length for m in kind.metadata if isinstance(m, MaxLen)), low + 2)
    return low, min(high, low + 2)


def _scalar(kind: TypeInfo) -> st.SearchStrategy[Any]:
    if kind.marked(TIME):
        return _datetimes.map(lambda t: t.replace(microsecond=0))
    if kind.marked(MICRO_TIME):
        return _datetimes
    if kind.marked(INT_OR_STRING):
        return st.one_of(st.integers(0, 65535), _words)
    if get_origin(kind.python) is Literal:
        return st.sampled_from(get_args(kind.python))
    if isinstance(kind.python, type) and issubclass(kind.python, Enum):
        return st.sampled_from(list(kind.python))
    if kind.python is str:
        return _texts(kind)
    if kind.python is int:
        return _integers(kind)
    if kind.python is timedelta:
        return _timedeltas(kind)
    try:
        return _SCALARS[kind.python]
    except KeyError:
        raise TypeError(
            f"no strategy generates {kind.python!r}: pass one for the class that contains it,"
            " or for (class, field name)"
        ) from None


def _texts(kind: TypeInfo) -> st.SearchStrategy[str]:
    pattern = next((m.pattern for m in kind.metadata if getattr(m, "pattern", None)), None)
    if pattern is not None:
        return st.from_regex(pattern, fullmatch=True)
    low = next((m.min_length for m in kind.metadata if isinstance(m, MinLen)), 0)
    high = next((m.max_length for m in kind.metadata if isinstance(m, MaxLen)), low + 12)
    return st.text(_letters, min_size=low, max_size=min(high, low + 12))


def _integers(kind: TypeInfo) -> st.SearchStrategy[int]:
    low, high = _bounds(kind, int)
    return st.integers(
        max(INT64_MIN, low) if low is not None else INT64_MIN,
        min(INT64_MAX, high) if high is not None else INT64_MAX,
    )


def _timedeltas(kind: TypeInfo) -> st.SearchStrategy[timedelta]:
    """Generate whole seconds: versions that count seconds lose anything finer."""
    low, high = _bounds(kind, lambda bound: int(bound.total_seconds()))
    seconds = st.integers(low if low is not None else 0, high if high is not None else 10**6)
    return seconds.map(lambda count: timedelta(seconds=count))


def _bounds(kind: TypeInfo, whole: Callable[[Any], int]) -> tuple[int | None, int | None]:
    lows: list[int] = []
    highs: list[int] = []
    for bound in kind.metadata:
        if isinstance(bound, Ge):
            lows.append(whole(bound.ge))
        elif isinstance(bound, Gt):
            lows.append(whole(bound.gt) + 1)
        elif isinstance(bound, Le):
            highs.append(whole(bound.le))
        elif isinstance(bound, Lt):
            highs.append(whole(bound.lt) - 1)
    return max(lows, default=None), min(highs, default=None)


_letters = string.ascii_letters + string.digits + '-./ "\\é☃\n'
_words = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=8)
_datetimes = st.datetimes(
    min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | _words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_words, inner, max_size=2),
    max_leaves=4,
)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False, width=32),
    bytes: st.binary(max_size=12),
    datetime: _datetimes,
    Decimal: st.decimals(allow_nan=False, allow_infinity=False, places=3),
    Quantity: st.tuples(
        st.integers(0, 10**6), st.sampled_from(("", "m", "k", "M", "Ki", "Gi"))
    ).map(lambda parts: Quantity(f"{parts[0]}{parts[1]}")),
}
