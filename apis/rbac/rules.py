"""Rules, ready to be asked: what a list of rules allows, and what it lacks of another.

Rules are compiled once, when a role changes. A question then costs a few look-ups by resource
instead of a walk over all rules, and nothing is multiplied out: a rule with a thousand groups and
a thousand resources takes two thousand entries, not a million.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from apimachinery.fieldpath import quote
from apis.rbac.v1 import PolicyRule
from apis.rbac.v1.types import ALL

ATOMS_MAX: Final = 20_000
"""Single permissions of a role that are compared one by one; comparing more would take too long."""

Words = frozenset[str] | None
"""A set of words, or None for every word."""


class TooManyRules(Exception):
    """Rules are too many to say which of them are not covered."""


class _ResourceRule(NamedTuple):
    verbs: Words
    groups: Words
    names: Words


class _PathRule(NamedTuple):
    verbs: Words
    path: str
    prefix: str | None


class CompiledRules:
    """What some rules allow."""

    __slots__ = ("_paths", "_resources", "rules")

    def __init__(self, rules: Iterable[PolicyRule]) -> None:
        self.rules = tuple(rules)
        self._resources: dict[str, list[_ResourceRule]] = {}
        self._paths: list[_PathRule] = []
        for rule in self.rules:
            self._add(rule)

    # Asked for every role of every request, so its arguments are by position.
    def allows_resource(self, keys: Sequence[str], verb: str, group: str, name: str) -> bool:
        """Whether *verb* is allowed on a resource, given as `resource_keys` of it."""
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
        """Whether *verb* is allowed on a path that is no resource."""
        for verbs, own, prefix in self._paths:
            fits = own == path or (prefix is not None and path.startswith(prefix))
            if fits and (verbs is None or verb in verbs):
                return True
        return False

    def missing(self, wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
        """The single permissions in *wanted* that are not allowed here, or TooManyRules."""
        atoms = (atom for rule in wanted if not self._covers_whole(rule) for atom in _atoms(rule))
        found = []
        for count, atom in enumerate(atoms):
            if count >= ATOMS_MAX:
                raise TooManyRules
            if not self._covers(atom):
                found.append(atom)
        return found

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
        """Whether a single rule on everything covers *rule*, which then need not be taken apart."""
        return bool(rule.resources) and any(
            entry.names is None
            and (entry.verbs is None or entry.verbs.issuperset(rule.verbs))
            and (entry.groups is None or entry.groups.issuperset(rule.api_groups))
            for entry in self._resources.get(ALL, ())
        )

    def _covers(self, atom: PolicyRule) -> bool:
        (verb,) = atom.verbs
        if atom.non_resource_urls:
            return self.allows_path(atom.non_resource_urls[0], verb)
        keys = _covering_keys(atom.resources[0])
        name = atom.resource_names[0] if atom.resource_names else None
        for key in keys:
            for verbs, groups, names in self._resources.get(key, ()):
                named = names is None or (name is not None and name in names)
                held = (verbs is None or verb in verbs) and named
                if held and (groups is None or atom.api_groups[0] in groups):
                    return True
        return False


def resource_keys(resource: str, subresource: str) -> tuple[str, ...]:
    """What a rule may call a resource: everything, by its name, or as a part of everything."""
    if not subresource:
        return ALL, resource
    return ALL, f"{resource}/{subresource}", f"{ALL}/{subresource}"


def described(rules: Iterable[PolicyRule]) -> list[str]:
    """Single permissions in the words of Kubernetes, those of one resource together."""
    together: dict[tuple[str, str], PolicyRule] = {}
    texts = set()
    for rule in rules:
        if rule.resource_names or rule.non_resource_urls:
            texts.add(_text(rule))
            continue
        place = (rule.api_groups[0], rule.resources[0])
        known = together.get(place)
        if known is None:
            together[place] = rule.deep_copy()
        else:
            known.verbs += rule.verbs
    return sorted(texts.union(map(_text, together.values())))


def _words(words: Sequence[str]) -> Words:
    return None if ALL in words else frozenset(words)


def _covering_keys(resource: str) -> tuple[str, ...]:
    """What a rule may say to cover all that *resource* stands for in another rule."""
    _, slash, part = resource.partition("/")
    return (ALL, resource, f"{ALL}/{part}") if slash else (ALL, resource)


def _atoms(rule: PolicyRule) -> Iterator[PolicyRule]:
    """The single permissions that a rule is made of."""
    for group, resource, verb in product(rule.api_groups, rule.resources, rule.verbs):
        for names in [[name] for name in rule.resource_names] or [[]]:
            yield PolicyRule(
                verbs=[verb], api_groups=[group], resources=[resource], resource_names=names
            )
    for path, verb in product(rule.non_resource_urls, rule.verbs):
        yield PolicyRule(verbs=[verb], non_resource_urls=[path])


def _text(rule: PolicyRule) -> str:
    parts = (
        ("APIGroups", rule.api_groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.non_resource_urls),
        ("ResourceNames", rule.resource_names),
        ("Verbs", rule.verbs),
    )
    shown = (f"{name}:{quoted_list(words)}" for name, words in parts if words)
    return f"{{{', '.join(shown)}}}"


def quoted_list(words: Iterable[str]) -> str:
    """A list of texts as Go's `%q` writes it."""
    return f"[{' '.join(map(quote, words))}]"
