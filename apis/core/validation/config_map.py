"""Validation of ConfigMaps, and the rules shared with Secrets."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, too_long
from apimachinery.names import exceeds, is_config_map_key
from apis.core.v1.config_map import ConfigMap

DATA_MAX: Final = 1024 * 1024
"""Bytes of all values together, of a ConfigMap or a Secret."""
_DATA: Final = Path("data")
_BINARY_DATA: Final = Path("binaryData")


def validate_config_map(config: ConfigMap) -> FieldErrors:
    for key in sorted(config.data):
        yield from validate_data_key(key, _DATA)
        if key in config.binary_data:
            yield invalid(_DATA.key(key), key, "duplicate of key present in binaryData")
    for key in sorted(config.binary_data):
        yield from validate_data_key(key, _BINARY_DATA)
    if exceeds(DATA_MAX - size_of(config.binary_data.values()), config.data.values()):
        # The empty path: the total size is too large, not a single field.
        yield too_long(Path(""), DATA_MAX)


def validate_config_map_update(new: ConfigMap, old: ConfigMap) -> FieldErrors:
    if old.immutable:
        yield from validate_frozen(
            new.immutable,
            {"data": (new.data, old.data), "binaryData": (new.binary_data, old.binary_data)},
        )
    yield from validate_config_map(new)


def validate_data_key(key: str, path: Path) -> FieldErrors:
    for error in is_config_map_key(key):
        yield invalid(path.key(key), key, error)


def validate_frozen(
    still_immutable: bool | None, fields: Mapping[str, tuple[Any, Any]]
) -> FieldErrors:
    """Validate that an immutable object stays immutable, with equal (new, old) *fields*."""
    rule = "field is immutable when `immutable` is set"
    if not still_immutable:
        yield forbidden(Path("immutable"), rule)
    for name, (new, old) in fields.items():
        if new != old:
            yield forbidden(Path(name), rule)


def size_of(values: Iterable[bytes]) -> int:
    return sum(map(len, values))
