"""Strategy of ResourceQuotas."""

from collections.abc import Iterable, Iterator

from apimachinery.fieldpath import FieldErrors
from apis.core.quota.types import ResourceQuota
from apis.core.validation.resource_quota import (
    validate_resource_quota,
    validate_resource_quota_status,
    validate_resource_quota_update,
)
from apiserver import Strategy


class ResourceQuotaStrategy(Strategy[ResourceQuota]):
    """Names are DNS subdomains; the scopes cannot change."""

    qualified_finalizers = True
    returns_deleted_object = True
    status_updates_metadata = True

    def prepare_for_status_update(self, new: ResourceQuota, old: ResourceQuota) -> None:
        # Clients do not have these fields.
        new.status.pending = old.status.pending
        new.status.recounts = old.status.recounts

    def validate(self, obj: ResourceQuota) -> FieldErrors:
        yield from validate_resource_quota(obj)

    def validate_update(self, new: ResourceQuota, old: ResourceQuota) -> FieldErrors:
        yield from validate_resource_quota_update(new, old)

    def validate_status_update(self, new: ResourceQuota, old: ResourceQuota) -> FieldErrors:
        yield from validate_resource_quota_status(new)

    def warnings(self, obj: ResourceQuota, old: ResourceQuota | None = None) -> Iterable[str]:
        return list(_warnings(obj)) if old is None else ()

    def desired_state(self, obj: ResourceQuota) -> object:
        return None


def _warnings(quota: ResourceQuota) -> Iterator[str]:
    hard = quota.spec.hard
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        request, limit = f"requests.{name}", f"limits.{name}"
        # For cpu and memory the bare name means the request.
        if request not in hard and name in ("cpu", "memory"):
            request = name
        if request in hard and limit in hard and hard[request] > hard[limit]:
            yield (
                f"ResourceQuota {request} ({hard[request]}) should be less than"
                f" {limit} ({hard[limit]})"
            )
