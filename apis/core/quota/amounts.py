"""Amounts of several resources by name, as in `hard` and `used` of a quota."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from apimachinery.scalars.quantity import Quantity

Amounts: TypeAlias = dict[str, Quantity]

ZERO: Final = Quantity(0)
ONE: Final = Quantity(1)


def add(total: Amounts, amounts: Mapping[str, Quantity]) -> None:
    """Add *amounts* to *total*, in place."""
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def times(amounts: Mapping[str, Quantity], count: int) -> Amounts:
    """Return what *count* objects use that use *amounts* each."""
    return {name: amount * count for name, amount in amounts.items()}


def largest(*choices: Mapping[str, Quantity]) -> Amounts:
    """Return the largest amount of each resource."""
    result: Amounts = {}
    for amounts in choices:
        for name, amount in amounts.items():
            if name not in result or amount > result[name]:
                result[name] = amount
    return result


def increase(new: Mapping[str, Quantity], old: Mapping[str, Quantity]) -> Amounts:
    """Return what *new* has more than *old*, without what it has less of."""
    return {
        name: amount - old.get(name, ZERO)
        for name, amount in new.items()
        if amount > old.get(name, ZERO)
    }


def mask(amounts: Mapping[str, Quantity], names: Collection[str]) -> Amounts:
    """Return the amounts of the named resources."""
    return {name: amount for name, amount in amounts.items() if name in names}


def shown(amounts: Mapping[str, Quantity]) -> str:
    """Format amounts for a message: `cpu=1,pods=2`."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))


def shown_names(names: Iterable[str]) -> str:
    return ",".join(sorted(names))
