"""Defaults of amounts of resources, which many kinds have: they are rounded up to thousandths."""

from apimachinery.scalars.quantity import Quantity


def round_up(resources: dict[str, Quantity]) -> None:
    """Round every amount up to a multiple of one thousandth."""
    for name, amount in resources.items():
        rounded = Quantity.from_milli(amount.milli_value(), amount.format)
        if rounded != amount:
            resources[name] = rounded
