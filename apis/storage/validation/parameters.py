"""Validation of what classes of volumes have in common: the driver and its parameters."""

from collections.abc import Mapping
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, required, too_long
from apimachinery.names import byte_length, is_qualified_name

MAX_PARAMETERS: Final = 512
MAX_PARAMETERS_SIZE: Final = 256 * 1024


def validate_provisioner(name: str, path: Path) -> FieldErrors:
    """Validate the name of a provisioner or driver, in either case."""
    if not name:
        yield required(path)
        return
    for error in is_qualified_name(name.lower()):
        yield invalid(path, name.lower(), error)


def validate_parameters(parameters: Mapping[str, str], path: Path) -> FieldErrors:
    if len(parameters) > MAX_PARAMETERS:
        yield too_long(path, MAX_PARAMETERS)
        return
    if "" in parameters:
        yield invalid(path, "", "field can not be empty.")
    if map_size(parameters) > MAX_PARAMETERS_SIZE:
        yield too_long(path, MAX_PARAMETERS_SIZE)


def map_size(texts: Mapping[str, str]) -> int:
    """Return the total size of keys and values in bytes."""
    return sum(byte_length(key) + byte_length(value) for key, value in texts.items())
