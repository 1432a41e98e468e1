"""Accepted loss: the fields whose stored values the operator has agreed to lose.

Apart from the start that honours it, because a configuration is validated without a store.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apimachinery.schema import GroupResource


@dataclass(frozen=True, slots=True)
class AcceptedLoss:
    """The values of `--accept-field-loss`."""

    paths: Mapping[str, tuple[str, ...]]
    """`resource.group` -> dotted paths."""

    @classmethod
    def parse(cls, arguments: Iterable[str]) -> "AcceptedLoss":
        """Parse `gadgets.example.io/spec.color`. Raises ValueError."""
        paths: dict[str, tuple[str, ...]] = {}
        for argument in arguments:
            resource, slash, path = argument.partition("/")
            if not (resource and slash and path):
                raise ValueError(
                    f"{argument!r}: expected RESOURCE.GROUP/FIELD, such as"
                    " gadgets.gadgets.example.io/spec.color"
                )
            paths[resource] = (*paths.get(resource, ()), path)
        return cls(paths)

    def of(self, resource: GroupResource) -> tuple[str, ...]:
        return self.paths.get(str(resource), ())


NO_LOSS = AcceptedLoss({})
