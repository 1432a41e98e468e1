"""Flow configuration: schemas and levels as the dispatcher needs them, apart from any API version.

The composition of the server translates stored objects into these values.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

EXEMPT: Final = "exempt"
"""The schema and the level of requests that are never limited."""
CATCH_ALL: Final = "catch-all"
"""The schema and the level of requests that no other schema matches."""
ALL: Final = "*"
BY_USER: Final = "ByUser"
BY_NAMESPACE: Final = "ByNamespace"


@dataclass(frozen=True, slots=True)
class Queuing:
    """The queues of a level; a flow uses *hand_size* of them."""

    queues: int
    hand_size: int
    length_limit: int


@dataclass(frozen=True, slots=True)
class LevelConfiguration:
    """One priority level; without *queuing* it rejects what it cannot execute at once."""

    name: str
    uid: str = ""
    exempt: bool = False
    shares: int = 0
    lendable_percent: int = 0
    borrowing_percent: int | None = None
    queuing: Queuing | None = None


@dataclass(frozen=True, slots=True)
class Subjects:
    """The users of a rule; `*` means everybody."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    account_prefixes: tuple[str, ...] = ()
    """User names of service accounts begin with these: one per namespace."""


@dataclass(frozen=True, slots=True)
class ResourceMatch:
    """Matches requests for resources; a set with only `*` matches everything."""

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    namespaces: frozenset[str] = frozenset()
    cluster_scope: bool = False


@dataclass(frozen=True, slots=True)
class PathRule:
    """Matches requests for other paths; a path that ends in `/*` matches all below it."""

    verbs: frozenset[str]
    paths: Collection[str]


@dataclass(frozen=True, slots=True)
class FlowRule:
    """Matches the requests of its subjects that one of its rules matches."""

    subjects: Subjects
    resources: tuple[ResourceMatch, ...] = ()
    paths: tuple[PathRule, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaConfiguration:
    """One flow schema."""

    name: str
    level: str
    precedence: int
    uid: str = ""
    distinguisher: str = ""
    """ByUser, ByNamespace, or empty for a single flow."""
    rules: tuple[FlowRule, ...] = ()


EVERYTHING: Final = FlowRule(
    Subjects(groups=frozenset((ALL,))),
    (
        ResourceMatch(
            frozenset((ALL,)),
            frozenset((ALL,)),
            frozenset((ALL,)),
            frozenset((ALL,)),
            cluster_scope=True,
        ),
    ),
    (PathRule(frozenset((ALL,)), (ALL,)),),
)

EXEMPT_LEVEL: Final = LevelConfiguration(EXEMPT, exempt=True)
CATCH_ALL_LEVEL: Final = LevelConfiguration(CATCH_ALL, shares=5)
CATCH_ALL_SCHEMA: Final = SchemaConfiguration(
    CATCH_ALL, CATCH_ALL, 10000, distinguisher=BY_USER, rules=(EVERYTHING,)
)


def exempt_schema(group: str) -> SchemaConfiguration:
    """Return the schema that exempts the members of *group*."""
    subjects = Subjects(groups=frozenset((group,)))
    rule = FlowRule(subjects, EVERYTHING.resources, EVERYTHING.paths)
    return SchemaConfiguration(EXEMPT, EXEMPT, 1, rules=(rule,))
