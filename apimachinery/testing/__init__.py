"""Checks that any group can run on its own types: `pip install apimachinery[testing]`."""

from apimachinery.testing.roundtrip import assert_roundtrip
from apimachinery.testing.strategies import Strategies, objects

__all__ = ["Strategies", "assert_roundtrip", "objects"]
