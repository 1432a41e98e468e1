"""Validation of what the status of a pod says about its resource claims."""

from collections.abc import Sequence

from apimachinery.fieldpath import FieldErrors, Path, duplicate, invalid, required
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.names import is_dns1123_label
from apis.core.v1.container import Container
from apis.core.v1.pod import PodResourceClaim, PodSpec
from apis.core.v1.pod_status import (
    ContainerExtendedResourceRequest,
    PodExtendedResourceClaimStatus,
    PodResourceClaimStatus,
)


def validate_claim_statuses(
    statuses: Sequence[PodResourceClaimStatus], claims: Sequence[PodResourceClaim], path: Path
) -> FieldErrors:
    known = {claim.name for claim in claims}
    seen: set[str] = set()
    for position, status in enumerate(statuses):
        here = path.index(position)
        if status.name not in known:
            rule = "must match the name of an entry in `spec.resourceClaims`"
            yield invalid(here.child("name"), status.name, rule)
        if status.name in seen:
            yield duplicate(here.child("name"), status.name)
        seen.add(status.name)
        name = status.resource_claim_name
        for error in dns_subdomain_name(name, False) if name is not None else ():
            yield invalid(here.child("resourceClaimName"), name, error)


def validate_extended_claim_status(
    status: PodExtendedResourceClaimStatus | None, spec: PodSpec, path: Path
) -> FieldErrors:
    """Validate the claim that was made for extended resources in the requests of containers."""
    if status is None:
        return
    containers = {
        container.name: container for container in (*spec.init_containers, *spec.containers)
    }
    mappings = path.child("requestMappings")
    if not status.request_mappings:
        yield required(mappings, "at least one request mapping is required")
    seen: set[tuple[str, str, str]] = set()
    for position, mapping in enumerate(status.request_mappings):
        here = mappings.index(position)
        yield from _validate_mapping(mapping, containers, here)
        for error in is_dns1123_label(mapping.request_name):
            # As in Kubernetes, this error has the path of the status.
            yield invalid(path.child("requestName"), mapping.request_name, error)
        key = (mapping.container_name, mapping.resource_name, mapping.request_name)
        if key in seen:
            for wire, value in zip(
                ("containerName", "resourceName", "requestName"), key, strict=True
            ):
                yield duplicate(here.child(wire), value)
        seen.add(key)
    name = path.child("resourceClaimName")
    if not status.resource_claim_name:
        yield required(name)
    for error in dns_subdomain_name(status.resource_claim_name, False):
        if status.resource_claim_name:
            yield invalid(name, status.resource_claim_name, error)


def _validate_mapping(
    mapping: ContainerExtendedResourceRequest, containers: dict[str, Container], path: Path
) -> FieldErrors:
    container = containers.get(mapping.container_name)
    if container is None:
        rule = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
        yield invalid(path.child("containerName"), mapping.container_name, rule)
    elif mapping.resource_name not in container.resources.requests:
        rule = (
            "must match the extended resource name of an entry in "
            "spec.initContainers.resources.requests or spec.containers.resources.requests"
        )
        yield invalid(path.child("resourceName"), mapping.resource_name, rule)
