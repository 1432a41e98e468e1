"""Strategy of PersistentVolumeClaims.

A claim names the source of its initial data in two fields: `dataSource`, which old clients know,
and `dataSourceRef`, which allows any kind. Both are kept the same.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.scalars.quantity import Quantity
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim, PersistentVolumeClaimSpec
from apis.core.v1.persistent_volume_claim_status import CLAIM_PENDING
from apis.core.v1.references import TypedLocalObjectReference, TypedObjectReference
from apis.core.validation.persistent_volume_claim import (
    STORAGE_CLASS_ANNOTATION,
    validate_persistent_volume_claim,
    validate_persistent_volume_claim_status_update,
    validate_persistent_volume_claim_update,
)
from apiserver import Strategy

_ZERO: Final = Quantity("0")
_SOURCES: Final = (
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
)
"""Group and kind of what `dataSource` may name; other values of old clients are dropped."""


class PersistentVolumeClaimStrategy(Strategy[PersistentVolumeClaim]):
    """Names are DNS subdomains; a bound claim may change its size and attributes only."""

    qualified_finalizers = True
    returns_deleted_object = True
    status_updates_metadata = True

    def prepare_for_create(self, obj: PersistentVolumeClaim) -> None:
        obj.status.phase = CLAIM_PENDING
        _drop_other_namespace(obj.spec, None)
        _drop_unknown_source(obj.spec)
        _complete_sources(obj.spec)

    def prepare_for_update(self, new: PersistentVolumeClaim, old: PersistentVolumeClaim) -> None:
        _drop_other_namespace(new.spec, old.spec)
        if old.spec.data_source is None and old.spec.data_source_ref is None:
            _drop_unknown_source(new.spec)
        _complete_sources(new.spec)

    def prepare_for_status_update(
        self, new: PersistentVolumeClaim, old: PersistentVolumeClaim
    ) -> None:
        if old.status.health_status is None:
            new.status.health_status = None

    def validate(self, obj: PersistentVolumeClaim) -> FieldErrors:
        yield from validate_persistent_volume_claim(obj)

    def validate_update(
        self, new: PersistentVolumeClaim, old: PersistentVolumeClaim
    ) -> FieldErrors:
        # Claims of older servers have only one of the two sources.
        complete = old.deep_copy()
        _complete_sources(complete.spec)
        yield from validate_persistent_volume_claim_update(new, complete)

    def validate_status_update(
        self, new: PersistentVolumeClaim, old: PersistentVolumeClaim
    ) -> FieldErrors:
        yield from validate_persistent_volume_claim_status_update(new)

    def warnings(
        self, obj: PersistentVolumeClaim, old: PersistentVolumeClaim | None = None
    ) -> Iterable[str]:
        return list(_warnings(obj))

    def desired_state(self, obj: PersistentVolumeClaim) -> object:
        return None


def _drop_other_namespace(
    spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec | None
) -> None:
    """Drop a source in another namespace: the feature is off by default in Kubernetes."""
    source = spec.data_source_ref
    if source is not None and source.namespace and (old is None or old.data_source_ref is None):
        spec.data_source_ref = None


def _drop_unknown_source(spec: PersistentVolumeClaimSpec) -> None:
    source = spec.data_source
    if spec.data_source_ref is not None or source is None:
        return
    if (source.api_group or "", source.kind) not in _SOURCES:
        spec.data_source = None


def _complete_sources(spec: PersistentVolumeClaimSpec) -> None:
    """Copy the one source that is set to the other field."""
    source, reference = spec.data_source, spec.data_source_ref
    if source is not None and reference is None:
        spec.data_source_ref = TypedObjectReference(
            api_group=source.api_group, kind=source.kind, name=source.name
        )
    elif reference is not None and source is None and not reference.namespace:
        spec.data_source = TypedLocalObjectReference(
            api_group=reference.api_group, kind=reference.kind, name=reference.name
        )


def _warnings(claim: PersistentVolumeClaim) -> Iterator[str]:
    if STORAGE_CLASS_ANNOTATION in claim.metadata.annotations:
        path = Path("metadata", "annotations").key(STORAGE_CLASS_ANNOTATION)
        yield f'{path}: deprecated since v1.8; use "storageClassName" attribute instead'
    resources = claim.spec.resources
    for name, amounts in (("requests", resources.requests), ("limits", resources.limits)):
        amount = amounts.get("storage", _ZERO)
        if amount.milli_value() % 1000:
            path = Path("spec", "resources", name).key("storage")
            yield f'{path}: fractional byte value "{amount}" is invalid, must be an integer'
