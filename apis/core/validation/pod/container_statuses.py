"""Validation of what nodes report about containers: their users, the health of their resources."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from apimachinery.names import byte_length, is_group_id, is_in_range
from apis.core.v1.container import Container
from apis.core.v1.container_status import ContainerStatus, LinuxContainerUser, ResourceStatus
from apis.core.v1.pod import PodOS
from apis.core.v1.pod_status import PodExtendedResourceClaimStatus

_USER_ID_MAX: Final = 2**32 - 1
_HEALTH: Final = ("Healthy", "Unhealthy", "Unknown")
_HEALTH_MESSAGE_MAX: Final = 1024
_CLAIM_PREFIX: Final = "claim:"


def validate_users(
    statuses: Sequence[ContainerStatus], path: Path, os: PodOS | None
) -> FieldErrors:
    system = os.name if os is not None else "linux"
    for position, status in enumerate(statuses):
        if status.user is None or status.user.linux is None:
            continue
        here = path.index(position).child("user", "linux")
        if system == "windows":
            yield forbidden(here, "cannot be set for a windows pod")
        elif system == "linux":
            yield from _validate_linux_user(status.user.linux, here)


def validate_allocated_resources(
    statuses: Sequence[ContainerStatus],
    path: Path,
    containers: Sequence[Container],
    extended: PodExtendedResourceClaimStatus | None,
) -> FieldErrors:
    """Validate the health of resources, which must be resources that the container requests."""
    by_name = {container.name: container for container in reversed(containers)}
    for position, status in enumerate(statuses):
        if not status.allocated_resources_status:
            continue
        here = path.index(position).child("allocatedResourcesStatus")
        container = by_name.get(status.name)
        claims = _claim_names(container, extended) if container is not None else set()
        for index, resource in enumerate(status.allocated_resources_status):
            # A status of a container that the pod does not have is kept.
            if container is not None:
                name = here.index(index).child("name")
                yield from _validate_resource_name(resource.name, container, claims, name)
            yield from _validate_health(resource, here.index(index).child("resources"))


def validate_no_allocated_resources(statuses: Sequence[ContainerStatus], path: Path) -> FieldErrors:
    for position, status in enumerate(statuses):
        if status.allocated_resources_status:
            here = path.index(position).child("allocatedResourcesStatus")
            yield forbidden(here, "must not be specified in container status")


def _validate_linux_user(user: LinuxContainerUser, path: Path) -> FieldErrors:
    for error in is_in_range(user.uid, 0, _USER_ID_MAX):
        yield invalid(path.child("uid"), user.uid, error)
    for error in is_group_id(user.gid):
        yield invalid(path.child("gid"), user.gid, error)
    for position, group in enumerate(user.supplemental_groups):
        for error in is_group_id(group):
            yield invalid(path.child("supplementalGroups").index(position), group, error)


def _validate_resource_name(
    name: str, container: Container, claims: set[str], path: Path
) -> FieldErrors:
    if not name.startswith(_CLAIM_PREFIX):
        if name not in container.resources.requests:
            yield invalid(path, name, "must match one of the container's resource requests")
    elif name not in claims:
        rule = (
            "must match one of the container's resource claims as "
            "'claim:<claimName>/<requestName>' when container.resources.claims[*].request "
            "is set or 'claim:<claimName>' when it is empty"
        )
        yield invalid(path, name, rule)


def _claim_names(container: Container, extended: PodExtendedResourceClaimStatus | None) -> set[str]:
    """Return how a status names the claims of a container, and those for extended resources."""
    names = {
        f"{_CLAIM_PREFIX}{claim.name}" + (f"/{claim.request}" if claim.request else "")
        for claim in container.resources.claims
    }
    if extended is None:
        return names
    requests = container.resources.requests
    return names | {
        f"{_CLAIM_PREFIX}{extended.resource_claim_name}/{mapping.request_name}"
        for mapping in extended.request_mappings
        if mapping.container_name == container.name
        and mapping.request_name
        and mapping.resource_name in requests
        and not requests[mapping.resource_name].is_zero
    }


def _validate_health(status: ResourceStatus, path: Path) -> FieldErrors:
    seen: set[str] = set()
    for position, resource in enumerate(status.resources):
        here = path.index(position)
        if resource.health not in _HEALTH:
            yield not_supported(here.child("health"), resource.health, _HEALTH)
        if resource.message == "":
            yield required(here.child("message"), "must be non-empty if specified")
        elif resource.message and byte_length(resource.message) > _HEALTH_MESSAGE_MAX:
            yield too_long(here.child("message"), _HEALTH_MESSAGE_MAX)
        if resource.resource_id in seen:
            yield duplicate(here.child("resourceID"), resource.resource_id)
        seen.add(resource.resource_id)
