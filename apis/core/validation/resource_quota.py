"""Validation of ResourceQuotas: resources, scopes, and which scopes apply to which resources."""

from collections.abc import Mapping
from typing import Final

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    GoStruct,
    Path,
    immutable,
    invalid,
    required,
)
from apimachinery.scalars.quantity import Quantity
from apis.core.v1.resource_quota import (
    BEST_EFFORT_SCOPE,
    CROSS_NAMESPACE_SCOPE,
    NOT_BEST_EFFORT_SCOPE,
    NOT_TERMINATING_SCOPE,
    PRIORITY_CLASS_SCOPE,
    SCOPES,
    TERMINATING_SCOPE,
    VOLUME_ATTRIBUTES_SCOPE,
    ResourceQuota,
    ResourceQuotaSpec,
    ScopedResourceSelectorRequirement,
    ScopeSelector,
)
from apis.core.validation.resource_names import (
    validate_resource_name,
    validate_resource_quantity,
)

_QUOTA_RESOURCES: Final = frozenset(
    {
        *(
            f"{prefix}{name}"
            for prefix in ("", "requests.", "limits.")
            for name in ("cpu", "memory", "ephemeral-storage")
        ),
        "requests.storage",
        "pods",
        "resourcequotas",
        "services",
        "services.loadbalancers",
        "services.nodeports",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
    }
)
_PODS: Final = frozenset({"pods"})
_COMPUTE: Final = frozenset(
    {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
)
_CLAIMS: Final = frozenset({"persistentvolumeclaims", "requests.storage"})
_RESOURCES_OF_SCOPE: Final[Mapping[str, frozenset[str]]] = {
    BEST_EFFORT_SCOPE: _PODS,
    CROSS_NAMESPACE_SCOPE: _PODS | _COMPUTE,
    NOT_BEST_EFFORT_SCOPE: _PODS | _COMPUTE,
    NOT_TERMINATING_SCOPE: _PODS | _COMPUTE,
    PRIORITY_CLASS_SCOPE: _PODS | _COMPUTE,
    TERMINATING_SCOPE: _PODS | _COMPUTE,
    VOLUME_ATTRIBUTES_SCOPE: _CLAIMS,
}
_WITHOUT_VALUES: Final = (
    BEST_EFFORT_SCOPE,
    NOT_BEST_EFFORT_SCOPE,
    TERMINATING_SCOPE,
    NOT_TERMINATING_SCOPE,
    CROSS_NAMESPACE_SCOPE,
)
_CONFLICTS: Final = (
    {BEST_EFFORT_SCOPE, NOT_BEST_EFFORT_SCOPE},
    {TERMINATING_SCOPE, NOT_TERMINATING_SCOPE},
)
_UNSUPPORTED: Final = "unsupported scope applied to resource"
_ONLY_EXISTS: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
    " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
    " ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def validate_resource_quota(quota: ResourceQuota) -> FieldErrors:
    yield from _validate_spec(quota.spec, Path("spec"))
    yield from validate_resource_quota_status(quota)


def validate_resource_quota_update(new: ResourceQuota, old: ResourceQuota) -> FieldErrors:
    yield from _validate_spec(new.spec, Path("spec"))
    if set(new.spec.scopes) != set(old.spec.scopes):
        yield immutable(Path("spec", "scopes"), new.spec.scopes)


def validate_resource_quota_status(quota: ResourceQuota) -> FieldErrors:
    path = Path("status")
    yield from _validate_amounts(quota.status.hard, path.child("hard"))
    yield from _validate_amounts(quota.status.used, path.child("used"))


def _validate_spec(spec: ResourceQuotaSpec, path: Path) -> FieldErrors:
    yield from _validate_amounts(spec.hard, path.child("hard"))
    yield from _validate_scopes(spec, path.child("scopes"))
    if spec.scope_selector is not None:
        here = path.child("scopeSelector", "matchExpressions")
        yield from _validate_scope_selector(spec, spec.scope_selector, here)


def _validate_amounts(amounts: Mapping[str, Quantity], path: Path) -> FieldErrors:
    for name in sorted(amounts):
        here = path.key(name)
        yield from validate_resource_name(name, here)
        if "/" not in name and not _is_quota_resource(name):
            yield invalid(here, name, "must be a standard resource for quota")
        yield from validate_resource_quantity(name, amounts[name], here)


def _validate_scopes(spec: ResourceQuotaSpec, path: Path) -> FieldErrors:
    # A repeated scope has no new errors; without this, errors would be scopes times resources.
    for scope in dict.fromkeys(spec.scopes):
        if scope not in SCOPES:
            yield invalid(path, spec.scopes, "unsupported scope")
        for _ in range(_count_beyond(scope, spec.hard)):
            yield invalid(path, spec.scopes, _UNSUPPORTED)
    for conflict in _CONFLICTS:
        if conflict <= set(spec.scopes):
            yield invalid(path, spec.scopes, "conflicting scopes")


def _validate_scope_selector(
    spec: ResourceQuotaSpec, selector: ScopeSelector, path: Path
) -> FieldErrors:
    names: set[str] = set()
    for requirement in selector.match_expressions:
        scope = requirement.scope_name
        if scope not in SCOPES:
            yield invalid(path.child("scopeName"), scope, "unsupported scope")
        for _ in range(_count_beyond(scope, spec.hard) if scope not in names else 0):
            yield invalid(path, _shown(selector), _UNSUPPORTED)
        yield from _validate_requirement(requirement, path)
        names.add(scope)
    for conflict in _CONFLICTS:
        if conflict <= names:
            yield invalid(path, spec.scopes or NULL, "conflicting scopes")


def _validate_requirement(
    requirement: ScopedResourceSelectorRequirement, path: Path
) -> FieldErrors:
    operator, values = requirement.operator, requirement.values
    if requirement.scope_name in _WITHOUT_VALUES and operator != "Exists":
        yield invalid(path.child("operator"), operator, _ONLY_EXISTS)
    if operator in ("In", "NotIn"):
        if not values:
            rule = (
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
            yield required(path.child("values"), rule)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            rule = (
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            )
            yield invalid(path.child("values"), values, rule)
    else:
        yield invalid(path.child("operator"), operator, "not a valid selector operator")


def _count_beyond(scope: str, hard: Mapping[str, Quantity]) -> int:
    """Return how many standard resources of a quota do not apply to a scope."""
    applicable = _RESOURCES_OF_SCOPE.get(scope)
    if applicable is None:
        return 0
    return sum(_is_quota_resource(name) and name not in applicable for name in hard)


def _is_quota_resource(name: str) -> bool:
    return name in _QUOTA_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


def _shown(selector: ScopeSelector) -> GoStruct:
    expressions = [
        GoStruct(
            ScopeName=requirement.scope_name,
            Operator=requirement.operator,
            Values=requirement.values or None,
        )
        for requirement in selector.match_expressions
    ]
    return GoStruct(MatchExpressions=expressions)
