"""Levels: how strict pod security is, by the labels of a namespace.

Each of three modes has a level and a version of it: `enforce` rejects pods, `audit` and `warn` only
say what is wrong, also for the templates of pods. A label that cannot be read counts as the
strictest level to enforce, and as none to warn about.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import total_ordering
from typing import Final

from apimachinery.fieldpath import FieldError, Path, invalid

PREFIX: Final = "pod-security.kubernetes.io/"
_LATEST: Final = "latest"
_VERSION: Final = re.compile(r"v1\.(0|[1-9][0-9]*)")
_MAX_DIGITS: Final = 18
_LABELS: Final = Path("metadata", "labels")


class Level(IntEnum):
    """The levels, the stricter the greater."""

    PRIVILEGED = 0
    BASELINE = 1
    RESTRICTED = 2

    def __str__(self) -> str:
        return self.name.lower()


@total_ordering
@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """The release of Kubernetes whose checks are meant; None for the newest."""

    minor: int | None = None

    def __lt__(self, other: "PolicyVersion") -> bool:
        if self.minor is None:
            return False
        return other.minor is None or self.minor < other.minor

    def __str__(self) -> str:
        return _LATEST if self.minor is None else f"v1.{self.minor}"


LATEST: Final = PolicyVersion()


@dataclass(frozen=True, slots=True)
class LevelVersion:
    """A level as a version of Kubernetes defines it."""

    level: Level = Level.PRIVILEGED
    version: PolicyVersion = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    def is_equivalent(self, other: "LevelVersion") -> bool:
        """Return whether the same pods pass both."""
        return self == other or self.level is other.level is Level.PRIVILEGED


@dataclass(frozen=True, slots=True)
class Policy:
    """What a namespace demands of its pods."""

    enforce: LevelVersion = field(default_factory=LevelVersion)
    audit: LevelVersion = field(default_factory=LevelVersion)
    warn: LevelVersion = field(default_factory=LevelVersion)

    @property
    def is_privileged(self) -> bool:
        """Whether no mode demands anything."""
        return all(mode.level is Level.PRIVILEGED for mode in (self.enforce, self.audit, self.warn))

    def is_equivalent(self, other: "Policy") -> bool:
        return (
            self.enforce.is_equivalent(other.enforce)
            and self.audit.is_equivalent(other.audit)
            and self.warn.is_equivalent(other.warn)
        )


class _Labels:
    """The labels of a namespace, and the errors found in them."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self.errors: list[FieldError] = []

    def level(self, mode: str, default: Level, *, invalid_as: Level) -> Level:
        label = PREFIX + mode
        text = self._labels.get(label)
        if text is None:
            return default
        try:
            return parse_level(text)
        except ValueError as error:
            self.errors.append(invalid(_LABELS.key(label), text, str(error)))
            return invalid_as

    def version(self, mode: str, default: PolicyVersion) -> PolicyVersion:
        label = f"{PREFIX}{mode}-version"
        text = self._labels.get(label)
        if text is None:
            return default
        try:
            return parse_version(text)
        except ValueError as error:
            self.errors.append(invalid(_LABELS.key(label), text, str(error)))
            return LATEST


def policy_of(labels: Mapping[str, str], default: Policy) -> tuple[Policy, list[FieldError]]:
    """Return the policy that *labels* choose, and the errors in them.

    A mode without a label has its *default*; `warn` is at least as strict as a valid `enforce`.
    """
    if not any(label.startswith(PREFIX) for label in labels):
        return default, []
    read = _Labels(labels)
    strictest, none = Level.RESTRICTED, Level.PRIVILEGED
    enforce_level = read.level("enforce", default.enforce.level, invalid_as=strictest)
    is_enforced = PREFIX + "enforce" in labels and not read.errors
    enforce = LevelVersion(enforce_level, read.version("enforce", default.enforce.version))
    audit_level = read.level("audit", default.audit.level, invalid_as=none)
    audit = LevelVersion(audit_level, read.version("audit", default.audit.version))
    warn_level = read.level("warn", default.warn.level, invalid_as=none)
    warn = LevelVersion(warn_level, read.version("warn", default.warn.version))
    if is_enforced and PREFIX + "warn" not in labels and enforce.level > warn.level:
        warn = replace(warn, level=enforce.level)
        if PREFIX + "warn-version" not in labels:
            warn = enforce
    return Policy(enforce, audit, warn), read.errors


def parse_level(text: str) -> Level:
    """Return the level of a name. Raises ValueError."""
    for level in Level:
        if text == str(level):
            return level
    raise ValueError(f"must be one of {', '.join(map(str, Level))}")


def parse_version(text: str) -> PolicyVersion:
    """Return the version that *text* names. Raises ValueError."""
    if text == _LATEST:
        return LATEST
    match = _VERSION.fullmatch(text)
    if match is None or len(match[1]) > _MAX_DIGITS:
        raise ValueError('must be "latest" or "v1.x"')
    return PolicyVersion(int(match[1]))
