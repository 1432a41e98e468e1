"""Resource names (`cpu`, `hugepages-2Mi`, `example.com/gpu`) and the quantities they allow.

A name without a domain is one of Kubernetes' own. A name with a domain is an extended resource: it
is counted in whole units, and cannot be overcommitted.
"""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported
from apimachinery.names import is_qualified_name
from apimachinery.scalars.quantity import InvalidQuantity, Quantity

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
STORAGE: Final = "storage"
HUGE_PAGES_PREFIX: Final = "hugepages-"
COMPUTE_RESOURCES: Final = frozenset({CPU, MEMORY})

_REQUESTS_PREFIX: Final = "requests."
_NATIVE_DOMAIN: Final = "kubernetes.io/"

_COUNTED: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD: Final = _COUNTED | {
    CPU,
    MEMORY,
    EPHEMERAL_STORAGE,
    STORAGE,
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "requests.storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
}
_POD_LEVEL: Final = (CPU, HUGE_PAGES_PREFIX, MEMORY)
_NOT_NEGATIVE: Final = "must be greater than or equal to 0"


def is_huge_page_resource(name: str) -> bool:
    return name.startswith(HUGE_PAGES_PREFIX)


def is_native_resource(name: str) -> bool:
    """Return whether a resource is defined by Kubernetes, not by a third party."""
    return "/" not in name or _NATIVE_DOMAIN in name


def is_extended_resource(name: str) -> bool:
    if is_native_resource(name) or name.startswith(_REQUESTS_PREFIX):
        return False
    # Quotas refer to the resource with this prefix.
    return not is_qualified_name(_REQUESTS_PREFIX + name)


def is_overcommit_allowed(name: str) -> bool:
    return is_native_resource(name) and not is_huge_page_resource(name)


def is_integer_resource(name: str) -> bool:
    return name in _COUNTED or is_extended_resource(name)


def is_pod_level_resource(name: str) -> bool:
    """Return whether a pod as a whole can have requests and limits of the resource."""
    return name in COMPUTE_RESOURCES or is_huge_page_resource(name)


def is_divisible_huge_page_value(name: str, quantity: Quantity) -> bool:
    """Return whether *quantity* is a whole number of the pages that *name* stands for."""
    try:
        size = Quantity(name.removeprefix(HUGE_PAGES_PREFIX))
    except InvalidQuantity:
        return False
    if size.sign <= 0 or size.milli_value() % 1000:
        return False
    return quantity.value() % size.value() == 0


def validate_resource_name(name: str, path: Path) -> FieldErrors:
    """Validate a name that is qualified, or one of Kubernetes' own."""
    errors = is_qualified_name(name)
    for error in errors:
        yield invalid(path, name, error)
    if not errors and "/" not in name and not _is_standard(name):
        yield invalid(path, name, "must be a standard resource type or fully qualified")


def validate_container_resource_name(name: str, path: Path) -> FieldErrors:
    yield from validate_resource_name(name, path)
    if "/" not in name:
        if not _is_container_resource(name):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not is_native_resource(name) and not is_extended_resource(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def validate_pod_resource_name(name: str, path: Path) -> FieldErrors:
    """Validate the name of a resource that a pod as a whole requests."""
    errors = list(validate_resource_name(name, path))
    yield from errors
    if not errors and not is_pod_level_resource(name):
        yield not_supported(path, name, _POD_LEVEL)


def validate_resource_quantity(name: str, quantity: Quantity, path: Path) -> FieldErrors:
    yield from validate_nonnegative_quantity(quantity, path)
    if is_integer_resource(name) and quantity.milli_value() % 1000:
        yield invalid(path, str(quantity), "must be an integer")


def validate_nonnegative_quantity(quantity: Quantity, path: Path) -> FieldErrors:
    if quantity.sign < 0:
        yield invalid(path, str(quantity), _NOT_NEGATIVE)


def validate_positive_quantity(quantity: Quantity, path: Path) -> FieldErrors:
    if quantity.sign <= 0:
        yield invalid(path, str(quantity), "must be greater than zero")


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith((HUGE_PAGES_PREFIX, "requests.hugepages-"))


def _is_container_resource(name: str) -> bool:
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_huge_page_resource(name)
