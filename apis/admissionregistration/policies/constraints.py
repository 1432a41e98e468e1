"""Constraints: which writes a policy or a binding is about, by rules and selectors."""

from collections.abc import Sequence
from dataclasses import dataclass

from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.matching.rules import (
    MatchRule,
    Target,
    compile_rule,
    find_match,
)
from apis.admissionregistration.matching.selectors import Selectors
from apis.admissionregistration.v1.rules import MatchResources
from apiserver.served_versions import ServedVersion, ServedVersions


@dataclass(frozen=True, slots=True)
class Constraints:
    """Compiled MatchResources."""

    rules: Sequence[MatchRule]
    """Empty for all resources."""
    excluded: Sequence[MatchRule]
    selectors: Selectors
    match_policy: str | None

    @classmethod
    def compile(cls, source: MatchResources) -> "Constraints":
        return cls(
            [compile_rule(rule) for rule in source.resource_rules],
            [compile_rule(rule) for rule in source.exclude_resource_rules],
            Selectors.compile(source.namespace_selector, source.object_selector),
            source.match_policy,
        )

    def may_match(self, target: Target, own: ServedVersion, versions: ServedVersions) -> bool:
        """Return whether any object of a target can match."""
        return not self.rules or self._find(self.rules, target, own, versions) is not None

    async def match(self, write: ReviewedWrite, versions: ServedVersions) -> ServedVersion | None:
        """Return the version in which a write is seen, None if it does not match.

        Raises NotFound if the namespace of the object does not exist.
        """
        target, own, name = write.target, write.own, write.name
        if self._find(self.excluded, target, own, versions, name):
            return None
        shown = self._find(self.rules, target, own, versions, name) if self.rules else own
        if shown is None or not await self.selectors.match(write):
            return None
        return shown

    def _find(
        self,
        rules: Sequence[MatchRule],
        target: Target,
        own: ServedVersion,
        versions: ServedVersions,
        name: str | None = None,
    ) -> ServedVersion | None:
        return find_match(
            rules,
            target,
            own,
            match_policy=self.match_policy,
            equivalents=lambda: versions.equivalents(own.resource, target.subresource),
            name=name,
        )
