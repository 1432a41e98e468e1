"""Stored shapes: what one resource's objects in a store are known to look like.

The store has a catalogue of shapes, which the server reads when it starts; without a catalogue only
the shape of today's class is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from apimachinery.evolution.field_tree import FieldTree
from apimachinery.evolution.upgrade_steps import UpgradeStep, pending_steps


@dataclass(frozen=True, slots=True)
class StoredShapes:
    """The catalogued shapes of one resource, seen from today's code."""

    trees: Mapping[str, FieldTree] = field(default_factory=dict)
    """Fingerprint -> field tree."""
    newer: frozenset[str] = frozenset()
    """Shapes of newer code than today's, as when an old release still runs beside a new one."""
    first: Mapping[str, str] = field(default_factory=dict)
    """apiVersion -> the first catalogued shape: objects from before the catalogue have it."""
    accepted: tuple[str, ...] = ()
    """Paths whose values the operator has agreed to lose."""
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fingerprint -> the steps in words that were declared when the shape was catalogued."""

    def pending(self, fingerprint: str, steps: Sequence[UpgradeStep]) -> list[UpgradeStep]:
        """Return the steps that documents of a shape may still need."""
        return pending_steps(steps, self.steps.get(fingerprint, ()))


ONLY_TODAY = StoredShapes()
