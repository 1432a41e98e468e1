"""Field labels: what field selectors of a kind may name, and the internal field that is meant."""

from collections.abc import Callable, Iterable
from typing import Final

from apimachinery.schema import GroupVersionKind

METADATA_LABELS: Final = ("metadata.name", "metadata.namespace")
"""The labels of every kind."""

FieldLabel = Callable[[str, str], tuple[str, str]]
"""Converts a label and a value of a version to the internal ones; raises ValueError."""


class FieldLabels:
    """The registered field labels of kinds."""

    def __init__(self) -> None:
        self._functions: dict[GroupVersionKind, FieldLabel] = {}

    def __contains__(self, kind: GroupVersionKind) -> bool:
        return kind in self._functions

    def add(self, kind: GroupVersionKind, labels: Iterable[str] | FieldLabel) -> None:
        if callable(labels):
            self._functions[kind] = labels
            return
        allowed = frozenset((*METADATA_LABELS, *labels))

        def convert(label: str, value: str) -> tuple[str, str]:
            if label not in allowed:
                raise ValueError(f"field label not supported: {label}")
            return label, value

        self._functions[kind] = convert

    def convert(
        self, kind: GroupVersionKind, label: str, value: str, *, unregistered: Iterable[str]
    ) -> tuple[str, str]:
        """Convert a label and a value; *unregistered* are the labels of a kind without any."""
        function = self._functions.get(kind)
        if function is None:
            return _check(label, (*METADATA_LABELS, *unregistered)), value
        return function(label, value)


def _check(label: str, names: tuple[str, ...]) -> str:
    if label not in names:
        quoted = ", ".join(f'"{name}"' for name in names)
        raise ValueError(f'"{label}" is not a known field selector: only {quoted}')
    return label
