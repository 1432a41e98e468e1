"""Who is asking."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MASTERS = "system:masters"
"""Whoever is in this group may do everything."""
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """A user as the authenticators found them; *groups* decide what they may do."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = User("system:anonymous", groups=(UNAUTHENTICATED,))
