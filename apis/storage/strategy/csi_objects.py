"""Strategies of the objects that CSI drivers maintain; updates need a resourceVersion."""

from collections.abc import Iterator

from apimachinery.fieldpath import FieldErrors, Path
from apis.core.validation.node_labels import DEPRECATED_NODE_LABELS
from apis.storage.v1 import CSIDriver, CSINode, CSIStorageCapacity
from apis.storage.validation.csi_driver import validate_csi_driver, validate_csi_driver_update
from apis.storage.validation.csi_node import validate_csi_node, validate_csi_node_update
from apis.storage.validation.csi_storage_capacity import (
    validate_storage_capacity,
    validate_storage_capacity_update,
)
from apiserver import Strategy


class CSIDriverStrategy(Strategy[CSIDriver]):
    """Whether volumes are attached, and their lifecycles, are immutable."""

    qualified_finalizers = True
    allow_unconditional_update = False
    returns_deleted_object = True

    def prepare_for_update(self, new: CSIDriver, old: CSIDriver) -> None:
        if new.spec != old.spec:
            new.metadata.generation = old.metadata.generation + 1

    def validate(self, obj: CSIDriver) -> FieldErrors:
        yield from validate_csi_driver(obj)

    def validate_update(self, new: CSIDriver, old: CSIDriver) -> FieldErrors:
        yield from validate_csi_driver_update(new, old)

    def warnings(self, obj: CSIDriver, old: CSIDriver | None = None) -> Iterator[str]:
        spec = obj.spec
        if old is not None and old.spec.token_requests == spec.token_requests:
            return
        if spec.token_requests and spec.service_account_token_in_secrets is None:
            yield (
                "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set"
                " to true to prevent possible logging of tokens in volume attributes"
            )

    def desired_state(self, obj: CSIDriver) -> object:
        return None  # a new driver has no generation; the first change makes it 1


class CSINodeStrategy(Strategy[CSINode]):
    """A driver that stays on a node cannot change, except for its limits."""

    qualified_finalizers = True
    allow_unconditional_update = False
    returns_deleted_object = True

    def prepare_for_status_update(self, new: CSINode, old: CSINode) -> None:
        # Not enabled in Kubernetes by default: what is stored stays, new values are dropped.
        if not old.status.storage_health:
            new.status.storage_health = []

    def validate(self, obj: CSINode) -> FieldErrors:
        yield from validate_csi_node(obj)

    def validate_update(self, new: CSINode, old: CSINode) -> FieldErrors:
        yield from validate_csi_node_update(new, old)

    def desired_state(self, obj: CSINode) -> object:
        return None


class CSIStorageCapacityStrategy(Strategy[CSIStorageCapacity]):
    """The class and the topology of a capacity are immutable."""

    qualified_finalizers = True
    allow_unconditional_update = False

    def validate(self, obj: CSIStorageCapacity) -> FieldErrors:
        yield from validate_storage_capacity(obj)

    def validate_update(self, new: CSIStorageCapacity, old: CSIStorageCapacity) -> FieldErrors:
        yield from validate_storage_capacity_update(new, old)

    def warnings(
        self, obj: CSIStorageCapacity, old: CSIStorageCapacity | None = None
    ) -> Iterator[str]:
        selector, path = obj.node_topology, Path("nodeTopology")
        if selector is None:
            return
        for position, requirement in enumerate(selector.match_expressions):
            if said := DEPRECATED_NODE_LABELS.get(requirement.key):
                here = path.child("matchExpressions").index(position).child("key")
                yield f"{here}: {requirement.key} is {said}"
        for label in sorted(selector.match_labels.keys() & DEPRECATED_NODE_LABELS.keys()):
            yield f"{path.child('matchLabels', label)}: {DEPRECATED_NODE_LABELS[label]}"

    def desired_state(self, obj: CSIStorageCapacity) -> object:
        return None
