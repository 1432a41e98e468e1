"""Validation of DeviceClasses."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.names import is_qualified_name
from apis.resource.v1 import DeviceClass, DeviceClassConfiguration
from apis.resource.validation.names import validate_items
from apis.resource.validation.selectors import (
    MAX_CONFIG,
    validate_configuration,
    validate_selectors,
)

_SPEC: Final = Path("spec")
_NATIVE_DOMAIN: Final = "kubernetes.io/"
_QUOTA_PREFIX: Final = "requests."


def validate_device_class(new: DeviceClass, old: DeviceClass | None = None) -> FieldErrors:
    """Validate a new class, or one that replaces *old*: what is the same was valid."""
    spec, before = new.spec, old.spec if old is not None else None
    same_selectors = before is not None and spec.selectors == before.selectors
    same_config = before is not None and spec.config == before.config

    def validate_config(config: DeviceClassConfiguration, path: Path) -> FieldErrors:
        yield from validate_configuration(config.opaque, path, stored=same_config)

    yield from validate_selectors(spec.selectors, _SPEC.child("selectors"), stored=same_selectors)
    yield from validate_items(spec.config, _SPEC.child("config"), MAX_CONFIG, validate_config)
    name = spec.extended_resource_name
    if name is not None:
        yield from _validate_extended_resource(name, _SPEC.child("extendedResourceName"))


def _validate_extended_resource(name: str, path: Path) -> FieldErrors:
    if "/" not in name:
        rule = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
        yield invalid(path, name, rule)
    elif _NATIVE_DOMAIN in name:
        yield invalid(path, name, f'must not have "{_NATIVE_DOMAIN}" domain')
    if name.startswith(_QUOTA_PREFIX):
        yield invalid(path, name, f'must not have "{_QUOTA_PREFIX}" prefix')
    # Quotas refer to the resource with this prefix.
    for problem in is_qualified_name(_QUOTA_PREFIX + name):
        yield invalid(path, name, problem)
