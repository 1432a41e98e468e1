"""Validation of file paths that a node resolves: none may lead out of its directory."""

from apimachinery.fieldpath import FieldErrors, Path, invalid


def validate_path_without_backsteps(value: str, path: Path) -> FieldErrors:
    """Validate that no element of a path is `..`."""
    if ".." in value.split("/"):
        yield invalid(path, value, "must not contain '..'")


def validate_descending_path(value: str, path: Path) -> FieldErrors:
    """Validate that a path is relative and stays below its directory."""
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from validate_path_without_backsteps(value, path)


def validate_unreserved_path(value: str, path: Path) -> FieldErrors:
    """Validate a descending path in a projected volume, where names with `..` are reserved."""
    yield from validate_descending_path(value, path)
    # The rule about elements has reported a first element that is `..` itself.
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")
