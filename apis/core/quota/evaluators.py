"""Evaluators of services and claims, and the evaluators of one server."""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any, Final

from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.quota.amounts import ONE, Amounts
from apis.core.quota.evaluator import Evaluator, FindStore, counted_resource
from apis.core.quota.measure import Measure
from apis.core.quota.pods import PODS, PodEvaluator, is_extended_request
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.v1.resource_quota import VOLUME_ATTRIBUTES_SCOPE
from apis.core.v1.service import LOAD_BALANCER, NODE_PORT, Service
from apiserver.admission.chain import Operation

DEVICE_CLAIMS: Final = GroupResource("resource.k8s.io", "resourceclaims")
DEVICE_CLASSES: Final = GroupResource("resource.k8s.io", "deviceclasses")
"""They say which extended resources the devices of claims count as."""
SERVICES: Final = GroupResource(GROUP, "services")
CLAIMS: Final = GroupResource(GROUP, "persistentvolumeclaims")

IGNORED: Final = frozenset(
    {
        GroupResource(GROUP, "bindings"),
        GroupResource(GROUP, "componentstatuses"),
        GroupResource(GROUP, "events"),
        GroupResource("authentication.k8s.io", "tokenreviews"),
        GroupResource("authentication.k8s.io", "selfsubjectreviews"),
        GroupResource("authorization.k8s.io", "subjectaccessreviews"),
        GroupResource("authorization.k8s.io", "selfsubjectaccessreviews"),
        GroupResource("authorization.k8s.io", "localsubjectaccessreviews"),
        GroupResource("authorization.k8s.io", "selfsubjectrulesreviews"),
        GroupResource("events.k8s.io", "events"),
    }
)
"""Resources that no quota limits."""

DEVICE_SUFFIX: Final = ".deviceclass.resource.k8s.io/devices"
"""Follows a device class in the name under which its devices count."""

_CHANGES: Final = (Operation.CREATE, Operation.UPDATE)
_CLASS_SUFFIX: Final = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_CLAIM_COUNT: Final = "persistentvolumeclaims"
_STORAGE: Final = "requests.storage"


class ServiceEvaluator(Evaluator):
    """Counts services, their load balancers and node ports."""

    counts_only = False

    def __init__(self) -> None:
        super().__init__(SERVICES)
        self._names = frozenset(
            {self.count_name, "services", "services.nodeports", "services.loadbalancers"}
        )

    def handles(self, operation: Operation, subresource: str, new: Any, old: Any) -> bool:
        return not subresource and operation in _CHANGES

    def measure(self, obj: Service) -> Measure:
        ports, balancers = 0, 0
        if obj.spec.type == NODE_PORT:
            ports = len(obj.spec.ports)
        elif obj.spec.type == LOAD_BALANCER:
            ports, balancers = _balancer_ports(obj), 1
        usage = {
            self.count_name: ONE,
            "services": ONE,
            "services.nodeports": Quantity(ports),
            "services.loadbalancers": Quantity(balancers),
        }
        return Measure(usage)


class ClaimEvaluator(Evaluator):
    """Counts PersistentVolumeClaims and the storage they request, also for each storage class."""

    counts_only = False

    def __init__(self) -> None:
        super().__init__(CLAIMS)
        self._names = frozenset({self.count_name, _CLAIM_COUNT, _STORAGE})

    def handles(self, operation: Operation, subresource: str, new: Any, old: Any) -> bool:
        # The status says how far the storage has grown.
        return subresource in ("", "status") and operation in _CHANGES

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        of_class = (_CLASS_SUFFIX + _CLAIM_COUNT, _CLASS_SUFFIX + _STORAGE)
        return frozenset(name for name in names if name in self._names or name.endswith(of_class))

    def measure(self, obj: PersistentVolumeClaim) -> Measure:
        usage: Amounts = {_CLAIM_COUNT: ONE, self.count_name: ONE}
        name = _storage_class(obj)
        if name:
            usage[name + _CLASS_SUFFIX + _CLAIM_COUNT] = ONE
        storage = _storage(obj)
        if storage is not None:
            usage[_STORAGE] = storage
            if name:
                usage[name + _CLASS_SUFFIX + _STORAGE] = storage
        return Measure(usage, classes={VOLUME_ATTRIBUTES_SCOPE: _attribute_classes(obj)})


class Evaluators:
    """The evaluators of a server; those that only count objects are built on first use."""

    def __init__(self, find_store: FindStore) -> None:
        self._special: dict[GroupResource, Callable[[], Evaluator]] = {
            PODS: PodEvaluator,
            SERVICES: ServiceEvaluator,
            CLAIMS: ClaimEvaluator,
            DEVICE_CLAIMS: partial(_device_claims, find_store),
        }
        self._evaluators: dict[GroupResource, Evaluator] = {}

    def of(self, resource: GroupResource) -> Evaluator | None:
        """Return the evaluator of a resource, None if no quota limits it."""
        found = self._evaluators.get(resource)
        if found is None and resource not in IGNORED:
            build = self._special.get(resource)
            found = build() if build is not None else Evaluator(resource)
            self._evaluators[resource] = found
        return found

    def of_names(self, names: Iterable[str]) -> list[Evaluator]:
        """Return the evaluators of everything that a quota limits."""
        names = list(names)
        return [one for one in self._candidates(names) if one.matching(names)]

    def limited_by(self, names: Iterable[str]) -> frozenset[GroupResource]:
        """Return the resources that a quota limits, or may limit once a device class says so."""
        names = list(names)
        return frozenset(
            one.resource
            for one in self._candidates(names)
            if one.resource == DEVICE_CLAIMS or one.matching(names)
        )

    def _candidates(self, names: Collection[str]) -> list[Evaluator]:
        counted = (counted_resource(name) for name in names)
        special = (PODS, SERVICES, CLAIMS, *((DEVICE_CLAIMS,) if _has_devices(names) else ()))
        resources = dict.fromkeys((*special, *(one for one in counted if one is not None)))
        candidates = (self.of(resource) for resource in resources)
        return [one for one in candidates if one is not None]


def _has_devices(names: Iterable[str]) -> bool:
    return any(DEVICE_SUFFIX in name or is_extended_request(name) for name in names)


def _device_claims(find_store: FindStore) -> Evaluator:
    # Imported late: most servers have no quota of devices, and need not load their types.
    from apis.core.quota.device_claims import DeviceClaimEvaluator

    return DeviceClaimEvaluator(find_store)


def _balancer_ports(service: Service) -> int:
    """Return how many node ports a load balancer gets; they may not be allocated yet."""
    if service.spec.allocate_load_balancer_node_ports is False:
        return sum(1 for port in service.spec.ports if port.node_port)
    return len(service.spec.ports)


def _storage_class(claim: PersistentVolumeClaim) -> str:
    if _CLASS_ANNOTATION in claim.metadata.annotations:
        return claim.metadata.annotations[_CLASS_ANNOTATION]
    return claim.spec.storage_class_name or ""


def _storage(claim: PersistentVolumeClaim) -> Quantity | None:
    """Return the storage of a claim in whole bytes: what it requests, or more if it has more."""
    requested = claim.spec.resources.requests.get("storage")
    if requested is None:
        return None
    allocated = claim.status.allocated_resources.get("storage", requested)
    larger = max(requested, allocated)
    rounded = Quantity(larger.value(), larger.format)
    return larger if rounded == larger else rounded


def _attribute_classes(claim: PersistentVolumeClaim) -> tuple[str, ...]:
    """Return the VolumeAttributesClasses that a claim has or is to have."""
    modified = claim.status.modify_volume_status
    names = (
        claim.spec.volume_attributes_class_name,
        claim.status.current_volume_attributes_class_name,
        modified.target_volume_attributes_class_name if modified is not None else None,
    )
    return tuple(dict.fromkeys(name for name in names if name))
