"""Strategies of device classes, claims, templates, slices and taint rules.

Fields of features that are off by default in Kubernetes are kept in stored objects, and dropped
from new ones.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from apimachinery.fieldpath import NULL, FieldErrors, Path, forbidden, invalid
from apimachinery.go_structs import go_struct
from apimachinery.meta.metadata_validation import (
    validate_annotations,
    validate_labels,
)
from apimachinery.meta.types import ObjectMeta
from apis.resource.v1 import (
    DeviceClaim,
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from apis.resource.validation.claim import expression_count, validate_device_claim
from apis.resource.validation.claim_status import DeviceID, validate_claim_status
from apis.resource.validation.device_class import validate_device_class
from apis.resource.validation.resource_slice import validate_resource_slice
from apis.resource.validation.selectors import EXPRESSION_EFFORT
from apis.resource.validation.taint_rule import validate_taint_rule, validate_taint_rule_status
from apiserver import Strategy


class DeviceClassStrategy(Strategy[DeviceClass]):
    """Selectors and configuration that do not change are not validated again."""

    qualified_finalizers = True
    ratchets = False
    returns_deleted_object = True

    def validate(self, obj: DeviceClass) -> FieldErrors:
        yield from validate_device_class(obj)

    def validate_update(self, new: DeviceClass, old: DeviceClass) -> FieldErrors:
        yield from validate_device_class(new, old)

    def effort(self, obj: DeviceClass) -> int:
        return EXPRESSION_EFFORT * len(obj.spec.selectors)


class ResourceClaimStrategy(Strategy[ResourceClaim]):
    """The spec is immutable; the status has what was allocated."""

    qualified_finalizers = True
    ratchets = False
    returns_deleted_object = True

    def prepare_for_create(self, obj: ResourceClaim) -> None:
        _drop_derived_attributes(obj.spec.devices)

    def prepare_for_update(self, new: ResourceClaim, old: ResourceClaim) -> None:
        if not _has_derived_attributes(old.spec.devices):
            _drop_derived_attributes(new.spec.devices)

    def prepare_for_status_update(self, new: ResourceClaim, old: ResourceClaim) -> None:
        """Drop fields of features that are off, and the state of devices that were freed."""
        for result in new.status.allocation.devices.results if new.status.allocation else ():
            result.skip_node_operations = []
        freed = _allocated(old) - _allocated(new)
        if freed:
            new.status.devices = [
                device for device in new.status.devices if DeviceID.of(device) not in freed
            ]

    def validate(self, obj: ResourceClaim) -> FieldErrors:
        yield from validate_device_claim(obj.spec.devices, Path("spec", "devices"))

    def validate_update(self, new: ResourceClaim, old: ResourceClaim) -> FieldErrors:
        if new.spec != old.spec:
            yield invalid(Path("spec"), NULL, "field is immutable")

    def validate_status_update(self, new: ResourceClaim, old: ResourceClaim) -> FieldErrors:
        yield from validate_claim_status(new, old)

    def effort(self, obj: ResourceClaim) -> int:
        return EXPRESSION_EFFORT * expression_count(obj.spec.devices)

    def desired_state(self, obj: ResourceClaim) -> object:
        return None


class ResourceClaimTemplateStrategy(Strategy[ResourceClaimTemplate]):
    """A template is immutable."""

    qualified_finalizers = True
    ratchets = False
    returns_deleted_object = True

    def prepare_for_create(self, obj: ResourceClaimTemplate) -> None:
        _drop_derived_attributes(obj.spec.spec.devices)

    def prepare_for_update(self, new: ResourceClaimTemplate, old: ResourceClaimTemplate) -> None:
        if not _has_derived_attributes(old.spec.spec.devices):
            _drop_derived_attributes(new.spec.spec.devices)

    def validate(self, obj: ResourceClaimTemplate) -> FieldErrors:
        yield from _validate_template_metadata(obj.spec.metadata, Path("spec", "metadata"))
        yield from validate_device_claim(obj.spec.spec.devices, Path("spec", "spec", "devices"))

    def validate_update(
        self, new: ResourceClaimTemplate, old: ResourceClaimTemplate
    ) -> FieldErrors:
        yield from self.validate(new)
        if new.spec != old.spec:
            yield invalid(Path("spec"), go_struct(new.spec), "field is immutable")

    def effort(self, obj: ResourceClaimTemplate) -> int:
        return EXPRESSION_EFFORT * expression_count(obj.spec.spec.devices)

    def desired_state(self, obj: ResourceClaimTemplate) -> object:
        return None


class ResourceSliceStrategy(Strategy[ResourceSlice]):
    """A slice belongs to its driver, which replaces it as a whole."""

    qualified_finalizers = True
    ratchets = False
    returns_deleted_object = True

    def prepare_for_create(self, obj: ResourceSlice) -> None:
        _drop_disabled_fields(obj)
        _set_times([taint for device in obj.spec.devices for taint in device.taints])

    def prepare_for_update(self, new: ResourceSlice, old: ResourceSlice) -> None:
        self.prepare_for_create(new)

    def validate(self, obj: ResourceSlice) -> FieldErrors:
        yield from validate_resource_slice(obj)

    def validate_update(self, new: ResourceSlice, old: ResourceSlice) -> FieldErrors:
        yield from validate_resource_slice(new, old)

    def warnings(self, obj: ResourceSlice, old: ResourceSlice | None = None) -> Iterable[str]:
        driver = obj.spec.driver
        if driver != driver.lower():
            yield (
                f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase'
                " characters"
            )


class DeviceTaintRuleStrategy(Strategy[DeviceTaintRule]):
    """A rule may select devices that do not exist yet."""

    qualified_finalizers = True
    ratchets = False

    def prepare_for_create(self, obj: DeviceTaintRule) -> None:
        _set_times([obj.spec.taint])

    def prepare_for_update(self, new: DeviceTaintRule, old: DeviceTaintRule) -> None:
        taint, before = new.spec.taint, old.spec.taint
        if taint.effect != before.effect and taint.time_added == before.time_added:
            taint.time_added = None  # it is the time of the effect
        _set_times([taint])

    def validate(self, obj: DeviceTaintRule) -> FieldErrors:
        yield from validate_taint_rule(obj)

    def validate_update(self, new: DeviceTaintRule, old: DeviceTaintRule) -> FieldErrors:
        yield from validate_taint_rule(new, old)

    def validate_status_update(self, new: DeviceTaintRule, old: DeviceTaintRule) -> FieldErrors:
        yield from validate_taint_rule_status(new.status)


def _allocated(claim: ResourceClaim) -> set[DeviceID]:
    allocation = claim.status.allocation
    return {DeviceID.of(result) for result in allocation.devices.results} if allocation else set()


def _has_derived_attributes(claim: DeviceClaim) -> bool:
    return any(
        (request.exactly is not None and request.exactly.derived_attributes)
        or any(alternative.derived_attributes for alternative in request.first_available)
        for request in claim.requests or ()
    )


def _drop_derived_attributes(claim: DeviceClaim) -> None:
    for request in claim.requests or ():
        if request.exactly is not None:
            request.exactly.derived_attributes = []
        for alternative in request.first_available:
            alternative.derived_attributes = []


def _drop_disabled_fields(obj: ResourceSlice) -> None:
    obj.spec.partition_type_attribute = None
    obj.spec.skip_node_operations = []
    for device in obj.spec.devices:
        device.node_allocatable_resources = {}
        for consumption in device.consumes_counters:
            consumption.compatibility_groups = []
        for attribute in device.attributes.values():
            attribute.bools, attribute.ints = [], []
            attribute.strings, attribute.versions = [], []


def _set_times(taints: Iterable[DeviceTaint]) -> None:
    for taint in taints:
        if taint.time_added is None:
            taint.time_added = datetime.now(UTC).replace(microsecond=0)


def _validate_template_metadata(metadata: ObjectMeta, path: Path) -> FieldErrors:
    yield from validate_annotations(metadata.annotations, path.child("annotations"))
    yield from validate_labels(metadata.labels, path.child("labels"))
    allowed = {"annotations", "labels"}
    for name, value in metadata.model_dump(by_alias=True, mode="json").items():
        if name not in allowed and value:
            yield forbidden(path.child(name), "cannot be set")
