"""Violation: what a check says about a pod, and the words that all checks share."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from apis.core.pod_containers import AnyContainer
from apis.core.v1.pod import PodSpec


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a pod is not allowed."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class PodToCheck:
    """A pod, or the template of pods."""

    spec: PodSpec
    annotations: Mapping[str, str]

    def containers(self) -> Iterator[AnyContainer]:
        """Yield init containers, containers and ephemeral containers, in this order."""
        spec = self.spec
        return chain(spec.init_containers, spec.containers, spec.ephemeral_containers)

    def containers_with(self, is_bad: Callable[[AnyContainer], bool]) -> list[str]:
        """Return the names of the containers for which *is_bad* is true, each asked once."""
        return [container.name for container in self.containers() if is_bad(container)]

    @property
    def is_windows(self) -> bool:
        return self.spec.os is not None and self.spec.os.name == "windows"

    @property
    def has_own_users(self) -> bool:
        """Whether root in the pod is nobody on the node."""
        return self.spec.host_users is False


Check: TypeAlias = Callable[[PodToCheck], Violation | None]


def setters(names: Sequence[str], *, pod: bool) -> str:
    """Return the words for the pod, if it has a bad value, and for its bad containers."""
    return " and ".join([*(["pod"] if pod else []), *([containers(names)] if names else [])])


def containers(names: Sequence[str]) -> str:
    return f"{plural('container', names)} {quoted(names)}"


def plural(word: str, items: Collection[object]) -> str:
    return word if len(items) == 1 else f"{word}s"


def uses(items: Collection[object]) -> str:
    return "uses" if len(items) == 1 else "use"


def quoted(items: Iterable[str]) -> str:
    """Return the items in quotes, separated by commas; unlike Go's %q nothing is escaped."""
    return ", ".join(f'"{item}"' for item in items)
