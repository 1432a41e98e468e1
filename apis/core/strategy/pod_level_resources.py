"""Resources of a pod as a whole: what its author leaves out is completed from the containers.

This applies only where the author has set some resources of the pod. It is part of the strategy and
not of the defaults, as in Kubernetes: templates are not completed, a resize is, and nobody owns the
values.
"""

from typing import Final

from apis.core.pod_resources import aggregate_limits, aggregate_requests
from apis.core.v1.pod import PodSpec
from apis.core.v1.resource_requirements import ResourceRequirements

_HUGE_PAGES: Final = "hugepages-"
_COMPUTE: Final = ("cpu", "memory")


def complete_pod_resources(spec: PodSpec) -> None:
    """Complete the limits for huge pages, then the requests, then the limits for the rest."""
    resources = spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return
    for name, amount in aggregate_limits(spec).items():
        if name.startswith(_HUGE_PAGES) and name not in resources.requests:
            resources.limits.setdefault(name, amount)
    for name, amount in aggregate_requests(spec).items():
        if name in _COMPUTE:
            resources.requests.setdefault(name, amount)
    for name, amount in resources.limits.items():
        if _is_supported(name):
            resources.requests.setdefault(name, amount)
    _complete_limits(spec, resources)


def keep_omitted_resources(new: PodSpec, old: PodSpec) -> None:
    """Keep the resources of the pod if a client omits them that may not know them."""
    if new.resources is None and old.resources is not None:
        new.resources = old.resources.deep_copy()


def _complete_limits(spec: PodSpec, resources: ResourceRequirements) -> None:
    """Limit what the pod requests where each container has a limit, but not below the request."""
    limits = aggregate_limits(spec)
    for name, request in resources.requests.items():
        if _is_supported(name) and name not in resources.limits and _is_limited(spec, name):
            resources.limits[name] = max(request, limits[name])


def _is_limited(spec: PodSpec, name: str) -> bool:
    containers = (*spec.init_containers, *spec.containers)
    # Ephemeral containers cannot have resources.
    return not spec.ephemeral_containers and all(
        name in container.resources.limits for container in containers
    )


def _is_supported(name: str) -> bool:
    return name in _COMPUTE or name.startswith(_HUGE_PAGES)
