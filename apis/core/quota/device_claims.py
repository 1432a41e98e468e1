"""ResourceClaims in quotas: the devices of each class that they request.

A device class may stand for an extended resource. A claim then counts for the quota of that
resource, too, except for what the pod has requested for which the scheduler has created the claim.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from apimachinery.errors import APIError
from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource
from apis.core.quota.amounts import ONE, ZERO, Amounts, add, largest
from apis.core.quota.evaluator import Evaluator, FindStore
from apis.core.quota.evaluators import DEVICE_CLAIMS, DEVICE_CLASSES, DEVICE_SUFFIX
from apis.core.quota.measure import Measure
from apis.core.quota.pods import DEVICE_CLASS, PODS, REQUESTS, PodEvaluator, is_extended_request
from apis.core.v1.pod import Pod
from apis.resource.v1 import DeviceClass, DeviceRequest, ResourceClaim
from apiserver.admission.chain import Operation
from apiserver.storage.cache.collection import Collection
from apiserver.storage.cache.entry import EntrySelection

_OF_POD: Final = "resource.kubernetes.io/extended-resource-claim"
_EXACT_COUNT: Final = "ExactCount"
_ALL: Final = "All"
_MOST_DEVICES: Final = 32
"""The most devices that a claim can get, for requests of all that there are."""


class DeviceClaimEvaluator(Evaluator):
    """Counts ResourceClaims and their devices."""

    counts_only = False

    def __init__(self, find_store: FindStore) -> None:
        super().__init__(DEVICE_CLAIMS)
        self._find_store = find_store
        self._pods = PodEvaluator()
        self._classes: tuple[int, int] | None = None
        self._resources: dict[str, str] = {}
        """Device class -> the extended resource that it stands for."""

    @property
    def version(self) -> object:
        self._read_classes()
        return self._classes

    def handles(self, operation: Operation, subresource: str, new: Any, old: Any) -> bool:
        return not subresource and operation in (Operation.CREATE, Operation.UPDATE)

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        self._read_classes()
        return frozenset(filter(self._matches, names))

    def measure(self, obj: ResourceClaim) -> Measure:
        usage: Amounts = {self.count_name: ONE}
        for request in obj.spec.devices.requests or ():
            add(usage, _devices(request))
        is_of_pod = obj.metadata.annotations.get(_OF_POD) == "true"
        pod = self._pod(obj) if is_of_pod else None
        requested = self._pods.measure(pod).usage if pod is not None else {}
        self._read_classes()
        for name, amount in dict(self._extended(usage)).items():
            rest = amount - requested.get(name, ZERO)
            if rest.sign > 0:
                usage[name] = rest
        return Measure(usage, volatile=is_of_pod)

    def _matches(self, name: str) -> bool:
        if name == self.count_name or name.endswith(DEVICE_SUFFIX):
            return True
        if name.startswith(REQUESTS + DEVICE_CLASS):
            return name.removeprefix(REQUESTS + DEVICE_CLASS) in self._resources
        return is_extended_request(name) and name.removeprefix(REQUESTS) in set(
            self._resources.values()
        )

    def _extended(self, usage: Mapping[str, Quantity]) -> Iterator[tuple[str, Quantity]]:
        """Yield what devices count as, under the names of extended resources."""
        for name, amount in usage.items():
            class_name = name.removesuffix(DEVICE_SUFFIX)
            if class_name and class_name != name:
                yield f"{REQUESTS}{DEVICE_CLASS}{class_name}", amount
                if class_name in self._resources:
                    yield f"{REQUESTS}{self._resources[class_name]}", amount

    def _pod(self, claim: ResourceClaim) -> Pod | None:
        """Return the pod that a claim was created for, if it is known to be so."""
        owners = claim.metadata.owner_references
        owner = next((reference for reference in owners if reference.controller), None)
        if owner is None or (owner.kind, owner.api_version) != ("Pod", "v1"):
            return None
        pod = self._cached(PODS, claim.metadata.namespace, owner.name)
        if not isinstance(pod, Pod) or pod.metadata.uid != owner.uid:
            return None
        status = pod.status.extended_resource_claim_status
        if status is None:
            return pod if self._is_first(claim, owner.uid) else None
        return pod if status.resource_claim_name == claim.metadata.name else None

    def _is_first(self, claim: ResourceClaim, uid: str) -> bool:
        """Return whether no other claim is likelier to be the one for the resources of a pod.

        Otherwise anybody could create claims for a pod, which count for nothing.
        """
        collection = self._find_store(DEVICE_CLAIMS).cached.collection
        selection = EntrySelection(namespace=claim.metadata.namespace)
        for entry in collection.select(selection, current=collection.changed).entries:
            if uid.encode() not in entry.record.value:
                continue
            other = self._find_store(DEVICE_CLAIMS).decode(entry)
            is_rival = other.metadata.annotations.get(_OF_POD) == "true" and any(
                owner.controller and owner.uid == uid for owner in other.metadata.owner_references
            )
            if is_rival and _age(other) < _age(claim):
                return False
        return True

    def _cached(self, resource: GroupResource, namespace: str, name: str) -> Any:
        try:
            store = self._find_store(resource)
            collection = store.cached.collection
            entry = collection.entry(collection.keys.object_key(name, namespace=namespace))
            return store.decode(entry) if entry is not None else None
        except (KeyError, APIError):
            return None

    def _read_classes(self) -> None:
        """Read the device classes if they have changed."""
        try:
            store = self._find_store(DEVICE_CLASSES)
        except KeyError:
            return
        collection: Collection = store.cached.collection
        state = collection.lists, collection.changed
        if state == self._classes:
            return
        entries = collection.select(EntrySelection(), current=collection.changed).entries
        classes: list[DeviceClass] = [store.decode(entry) for entry in entries]
        names = {one.metadata.name: one.spec.extended_resource_name for one in classes}
        self._resources = {name: resource for name, resource in names.items() if resource}
        self._classes = state


def _age(claim: ResourceClaim) -> tuple[str, str]:
    return str(claim.metadata.creation_timestamp), claim.metadata.name


def _devices(request: DeviceRequest) -> Amounts:
    """Return the devices of each class that a request may get; the most of its alternatives."""
    if request.first_available:
        return largest(
            *(
                _of_class(one.device_class_name, one.allocation_mode, one.count)
                for one in request.first_available
            )
        )
    exactly = request.exactly
    if exactly is None:
        return {}
    return _of_class(exactly.device_class_name, exactly.allocation_mode, exactly.count)


def _of_class(name: str, mode: str, count: int) -> Amounts:
    numbers = {_EXACT_COUNT: count, _ALL: _MOST_DEVICES}
    return {name + DEVICE_SUFFIX: Quantity(numbers.get(mode, 0))}
