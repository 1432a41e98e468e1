"""Validation of resource requirements: of a container, of a pod as a whole, and of its overhead."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from apimachinery.fieldpath import (
    ErrorType,
    FieldError,
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    required,
)
from apimachinery.names import is_dns1123_label
from apimachinery.scalars.quantity import Quantity
from apis.core.pod_resources import aggregate_limits, aggregate_requests
from apis.core.v1.pod import PodSpec
from apis.core.v1.resource_requirements import ResourceClaim, ResourceRequirements
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.resource_names import (
    COMPUTE_RESOURCES,
    is_divisible_huge_page_value,
    is_huge_page_resource,
    is_overcommit_allowed,
    validate_container_resource_name,
    validate_pod_resource_name,
    validate_resource_quantity,
)

_NameRule: TypeAlias = Callable[[str, Path], FieldErrors]
_Quantities: TypeAlias = Mapping[str, Quantity]


def validate_container_resources(
    requirements: ResourceRequirements,
    claim_names: set[str],
    path: Path,
    options: PodValidationOptions,
) -> FieldErrors:
    """Validate the requirements of a container, whose claims are claims of the pod."""
    yield from _validate_requirements(requirements, path, validate_container_resource_name, options)
    yield from _validate_claims(requirements.claims, claim_names, path.child("claims"))


def validate_overhead(
    overhead: _Quantities, path: Path, options: PodValidationOptions
) -> FieldErrors:
    """Validate the overhead of a pod like the limits of a container."""
    requirements = ResourceRequirements(limits=dict(overhead))
    yield from _validate_requirements(requirements, path, validate_container_resource_name, options)


def validate_pod_resources(
    spec: PodSpec, claim_names: set[str], path: Path, options: PodValidationOptions
) -> FieldErrors:
    """Validate the requirements of a pod as a whole, and those of its containers against them."""
    if spec.resources is None:
        return
    if spec.os is not None and spec.os.name == "windows":
        yield forbidden(path, "may not be set for a windows pod")
        return
    if spec.resources.claims:
        yield forbidden(path.child("claims"), "claims may not be set for Resources at pod-level")
    yield from _validate_requirements(spec.resources, path, validate_pod_resource_name, options)
    yield from _validate_claims(spec.resources.claims, claim_names, path.child("claims"))
    yield from _validate_sums(spec, spec.resources, path)
    yield from _validate_container_limits(spec, spec.resources.limits, path)


def _validate_requirements(
    requirements: ResourceRequirements,
    path: Path,
    name_rule: _NameRule,
    options: PodValidationOptions,
) -> FieldErrors:
    for wire, quantities in (("limits", requirements.limits), ("requests", requirements.requests)):
        for name, quantity in sorted(quantities.items()):
            here = path.child(wire).key(name)
            yield from name_rule(name, here)
            yield from validate_resource_quantity(name, quantity, here)
            if wire == "requests":
                yield from _validate_request(name, quantity, requirements.limits, path)
            if not options.allow_indivisible_huge_pages:
                yield from _validate_huge_pages(name, quantity, here)
    names = {*requirements.limits, *requirements.requests}
    if any(map(is_huge_page_resource, names)) and not names & COMPUTE_RESOURCES:
        yield forbidden(path, "HugePages require cpu or memory")


def _validate_request(
    name: str, quantity: Quantity, limits: _Quantities, path: Path
) -> FieldErrors:
    limit, overcommit = limits.get(name), is_overcommit_allowed(name)
    if limit is None:
        if not overcommit:
            rule = "Limit must be set for non overcommitable resources"
            yield required(path.child("limits"), rule)
    elif quantity != limit and not overcommit:
        rule = f"must be equal to {name} limit of {limit}"
        yield invalid(path.child("requests"), str(quantity), rule)
    elif quantity > limit:
        rule = f"must be less than or equal to {name} limit of {limit}"
        yield invalid(path.child("requests"), str(quantity), rule)


def _validate_huge_pages(name: str, quantity: Quantity, path: Path) -> FieldErrors:
    if is_huge_page_resource(name) and not is_divisible_huge_page_value(name, quantity):
        rule = f"{quantity} is not positive integer multiple of {name}"
        yield invalid(path, str(quantity), rule)


def _validate_claims(
    claims: Sequence[ResourceClaim], claim_names: set[str], path: Path
) -> FieldErrors:
    requests: dict[str, set[str]] = {}
    for position, claim in enumerate(claims):
        here = path.index(position)
        if not claim.name:
            yield required(here)
            continue
        yield from _validate_claim_requests(claim, requests.setdefault(claim.name, set()), here)
        if claim.name not in claim_names:
            yield _unknown_claim(claim.name, claim_names, here)


def _validate_claim_requests(claim: ResourceClaim, requests: set[str], path: Path) -> FieldErrors:
    """Validate that a claim is used as a whole once, or by different requests."""
    if "" in requests:
        yield duplicate(path, claim.name)
        return
    for error in is_dns1123_label(claim.request) if claim.request else ():
        yield invalid(path.child("request"), claim.request, error)
    if not claim.request:
        for _ in requests:
            yield duplicate(path, claim.name)
    elif claim.request in requests:
        yield duplicate(path, f"{claim.name}/{claim.request}")
    requests.add(claim.request)


def _unknown_claim(name: str, claim_names: set[str], path: Path) -> FieldError:
    rule = "must be one of the names in pod.spec.resourceClaims"
    known = f": {', '.join(sorted(claim_names))}" if claim_names else " which is empty"
    return FieldError(ErrorType.NOT_FOUND, str(path), name, rule + known)


def _validate_sums(spec: PodSpec, resources: ResourceRequirements, path: Path) -> FieldErrors:
    for name, total in sorted(aggregate_requests(spec).items()):
        request = resources.requests.get(name)
        if request is not None and total > request:
            rule = f"must be greater than or equal to aggregate container requests of {total}"
            yield invalid(path.child("requests").key(name), str(request), rule)
    # Huge pages cannot be overcommitted, so the limits of containers add up as well.
    for name, total in sorted(aggregate_limits(spec).items()):
        limit = resources.limits.get(name)
        if is_huge_page_resource(name) and limit is not None and total > limit:
            rule = f"must be greater than or equal to aggregate container limits of {total}"
            yield invalid(path.child("limits").key(name), str(limit), rule)


def _validate_container_limits(spec: PodSpec, limits: _Quantities, path: Path) -> FieldErrors:
    for position, container in enumerate(spec.containers):
        for name, quantity in sorted(container.resources.limits.items()):
            limit = limits.get(name)
            if limit is not None and quantity > limit:
                here = path.child("containers").index(position).key(name).child("limits")
                rule = f"must be less than or equal to pod limits of {limit}"
                yield invalid(here, str(quantity), rule)
