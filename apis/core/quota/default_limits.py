"""DefaultLimits: what may only be used in a namespace with a quota that covers it."""

from collections.abc import Iterable, Iterator, Sequence

from apis.core.quota.configuration import LimitedResource
from apis.core.quota.demand import QuotaDemand, QuotaRefusal
from apis.core.quota.measure import requirements
from apis.core.quota.types import ResourceQuota
from apis.core.v1.resource_quota import ScopedResourceSelectorRequirement


class DefaultLimits:
    """The limited resources of a server's configuration."""

    def __init__(self, limited: Sequence[LimitedResource]) -> None:
        self._limited = tuple(limited)

    def __bool__(self) -> bool:
        return bool(self._limited)

    def check(
        self,
        demand: QuotaDemand,
        quotas: Iterable[ResourceQuota],
        concerned: Iterable[ResourceQuota],
    ) -> None:
        """Raise QuotaRefusal unless the quotas cover everything of *demand* that is limited."""
        covered = {
            name for quota in concerned for name in demand.evaluator.matching(quota.status.hard)
        }
        if uncovered := sorted(set(self._names(demand)) - covered):
            raise QuotaRefusal(f"insufficient quota to consume: {','.join(uncovered)}")
        scopes = {
            requirement.scope_name
            for quota in quotas
            for requirement in requirements(quota.spec)
            if demand.measure.matches(requirement)
        }
        missing = [one for one in self._scopes(demand) if one.scope_name not in scopes]
        if missing:
            shown = " ".join(map(_shown, missing))
            raise QuotaRefusal(f"insufficient quota to match these scopes: [{shown}]")

    def _names(self, demand: QuotaDemand) -> Iterator[str]:
        """Yield the names under which the object uses something that is limited."""
        resource = demand.evaluator.resource
        for limited in self._limited:
            if (limited.api_group, limited.resource) != (resource.group, resource.resource):
                continue
            for name, amount in demand.usage.items():
                if amount.sign > 0 and any(part in name for part in limited.match_contains):
                    yield name

    def _scopes(self, demand: QuotaDemand) -> Iterator[ScopedResourceSelectorRequirement]:
        for limited in self._limited:
            yield from filter(demand.measure.matches, limited.match_scopes)


def _shown(requirement: ScopedResourceSelectorRequirement) -> str:
    values = " ".join(requirement.values)
    return f"{{{requirement.scope_name} {requirement.operator} [{values}]}}"
