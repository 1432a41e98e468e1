"""CompiledRules: evaluate the rules of a role, and compare them with those of another.

Rules are compiled once, when a role changes. A decision then takes a few look-ups by resource
instead of a scan of all rules, without multiplying them out: a rule with a thousand groups and a
thousand resources takes two thousand entries, not a million.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from apimachinery.fieldpath import quote
from apis.rbac.v1 import PolicyRule
from apis.rbac.v1.types import ALL

ATOMS_MAX: Final = 20_000
"""How many single permissions `missing` compares; more would take too long."""

COMPARISONS_MAX: Final = 1_000_000
"""How often `missing` compares a single permission with a rule."""

MISSING_MAX: Final = 1000
"""How many missing permissions an error lists."""

Words = frozenset[str] | None
"""A set of words, or None for a wildcard."""


class TooManyRules(Exception):
    """The rules have too many single permissions to compare them; the message describes those."""


class _ResourceRule(NamedTuple):
    verbs: Words
    groups: Words
    names: Words


class _PathRule(NamedTuple):
    verbs: Words
    path: str
    prefix: str | None


class _Permission(NamedTuple):
    """One verb on one resource, all of its objects or one of them, or on one URL."""

    verb: str
    group: str = ""
    resource: str = ""
    name: str | None = None
    path: str | None = None

    def as_rule(self) -> PolicyRule:
        if self.path is not None:
            return PolicyRule(verbs=[self.verb], non_resource_urls=[self.path])
        return PolicyRule(
            verbs=[self.verb],
            api_groups=[self.group],
            resources=[self.resource],
            resource_names=[] if self.name is None else [self.name],
        )


class CompiledRules:
    """A list of rules, indexed by resource."""

    __slots__ = ("_paths", "_resources", "rules")

    def __init__(self, rules: Iterable[PolicyRule]) -> None:
        self.rules = tuple(rules)
        self._resources: dict[str, list[_ResourceRule]] = {}
        self._paths: list[_PathRule] = []
        for rule in self.rules:
            self._add(rule)

    # Called for every role of every request: positional arguments are faster.
    def allows_resource(self, keys: Sequence[str], verb: str, group: str, name: str) -> bool:
        """Return whether *verb* is allowed on a resource, given by its `resource_keys`."""
        for key in keys:
            for verbs, groups, names in self._resources.get(key, ()):
                if (
                    (verbs is None or verb in verbs)
                    and (groups is None or group in groups)
                    and (names is None or name in names)
                ):
                    return True
        return False

    def allows_path(self, path: str, verb: str) -> bool:
        """Return whether *verb* is allowed on a non-resource URL."""
        for verbs, exact, prefix in self._paths:
            matches = exact == path or (prefix is not None and path.startswith(prefix))
            if matches and (verbs is None or verb in verbs):
                return True
        return False

    def missing(self, required: Iterable[PolicyRule]) -> list[PolicyRule]:
        """Return the single permissions in *required* that these rules lack, MISSING_MAX at most.

        Raises TooManyRules.
        """
        permissions = (
            permission
            for rule in required
            if not self._covers_whole(rule)
            for permission in _single_permissions(rule)
        )
        missing: list[PolicyRule] = []
        comparisons = 0
        for count, permission in enumerate(permissions):
            comparisons += self._candidates(permission)
            if count >= ATOMS_MAX:
                raise TooManyRules(f"some of more than {ATOMS_MAX} permissions")
            if comparisons > COMPARISONS_MAX:
                raise TooManyRules("some of the permissions; there are too many rules to compare")
            if len(missing) < MISSING_MAX and not self._covers(permission):
                missing.append(permission.as_rule())
        return missing

    def _add(self, rule: PolicyRule) -> None:
        verbs = _words(rule.verbs)
        if rule.resources:
            names = frozenset(rule.resource_names) if rule.resource_names else None
            entry = _ResourceRule(verbs, _words(rule.api_groups), names)
            for resource in dict.fromkeys(rule.resources):
                self._resources.setdefault(resource, []).append(entry)
        for path in rule.non_resource_urls:
            prefix = path.rstrip(ALL) if path.endswith(ALL) else None
            self._paths.append(_PathRule(verbs, path, prefix))

    def _covers_whole(self, rule: PolicyRule) -> bool:
        """Return whether one rule for all resources covers *rule*, which then need not be split."""
        return bool(rule.resources) and any(
            entry.names is None
            and (entry.verbs is None or entry.verbs.issuperset(rule.verbs))
            and (entry.groups is None or entry.groups.issuperset(rule.api_groups))
            for entry in self._resources.get(ALL, ())
        )

    def _candidates(self, permission: _Permission) -> int:
        """Return how many rules `_covers` may have to look at."""
        if permission.path is not None:
            return len(self._paths)
        keys = _covering_keys(permission.resource)
        return sum(len(self._resources.get(key, ())) for key in keys)

    def _covers(self, permission: _Permission) -> bool:
        verb, group, resource, name, path = permission
        if path is not None:
            return self.allows_path(path, verb)
        for key in _covering_keys(resource):
            for verbs, groups, names in self._resources.get(key, ()):
                name_covered = names is None or (name is not None and name in names)
                verb_covered = verbs is None or verb in verbs
                if verb_covered and name_covered and (groups is None or group in groups):
                    return True
        return False


def resource_keys(resource: str, subresource: str) -> tuple[str, ...]:
    """Return the texts by which rules can name a resource or subresource, wildcards included."""
    if not subresource:
        return ALL, resource
    return ALL, f"{resource}/{subresource}", f"{ALL}/{subresource}"


def count_permissions(rules: Iterable[PolicyRule]) -> int:
    """Return the number of single permissions, without splitting the rules."""
    return sum(
        len(rule.verbs)
        * (
            len(rule.api_groups) * len(rule.resources) * max(len(rule.resource_names), 1)
            + len(rule.non_resource_urls)
        )
        for rule in rules
    )


def describe(rules: Iterable[PolicyRule]) -> list[str]:
    """Format single permissions as Kubernetes does, and combine the verbs of one resource."""
    combined: dict[tuple[str, str], PolicyRule] = {}
    texts = set()
    for rule in rules:
        if rule.resource_names or rule.non_resource_urls:
            texts.add(_text(rule))
            continue
        resource = (rule.api_groups[0], rule.resources[0])
        previous = combined.get(resource)
        if previous is None:
            combined[resource] = rule.deep_copy()
        else:
            previous.verbs += rule.verbs
    return sorted(texts.union(map(_text, combined.values())))


def _words(words: Sequence[str]) -> Words:
    return None if ALL in words else frozenset(words)


def _covering_keys(resource: str) -> tuple[str, ...]:
    """Return the texts by which a rule can cover *resource* of another rule."""
    _, slash, part = resource.partition("/")
    return (ALL, resource, f"{ALL}/{part}") if slash else (ALL, resource)


def _single_permissions(rule: PolicyRule) -> Iterator[_Permission]:
    """Split a rule into its single permissions."""
    names: Sequence[str | None] = rule.resource_names or [None]
    for group, resource, verb in product(rule.api_groups, rule.resources, rule.verbs):
        for name in names:
            yield _Permission(verb, group, resource, name)
    for path, verb in product(rule.non_resource_urls, rule.verbs):
        yield _Permission(verb, path=path)


def _text(rule: PolicyRule) -> str:
    parts = (
        ("APIGroups", rule.api_groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.non_resource_urls),
        ("ResourceNames", rule.resource_names),
        ("Verbs", rule.verbs),
    )
    fields = (f"{name}:{quoted_list(words)}" for name, words in parts if words)
    return f"{{{', '.join(fields)}}}"


def quoted_list(words: Iterable[str]) -> str:
    """Format a list of texts as Go's `%q` does."""
    return f"[{' '.join(map(quote, words))}]"
