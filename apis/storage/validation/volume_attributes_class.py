"""Validation of VolumeAttributesClasses."""

from apimachinery.fieldpath import FieldErrors, Path, forbidden, required
from apis.storage.v1 import VolumeAttributesClass
from apis.storage.validation.parameters import validate_parameters, validate_provisioner


def validate_attributes_class(attributes_class: VolumeAttributesClass) -> FieldErrors:
    yield from validate_provisioner(attributes_class.driver_name, Path("driverName"))
    parameters = attributes_class.parameters
    yield from validate_parameters(parameters, Path("parameters"))
    if not parameters:
        yield required(Path("parameters"), "must contain at least one key/value pair")


def validate_attributes_class_update(
    new: VolumeAttributesClass, old: VolumeAttributesClass
) -> FieldErrors:
    if new.driver_name != old.driver_name:
        yield forbidden(Path("driverName"), "updates to driverName are forbidden.")
    if new.parameters != old.parameters:
        yield forbidden(Path("parameters"), "updates to parameters are forbidden.")
    yield from validate_attributes_class(new)
