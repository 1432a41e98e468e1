"""Validation of the names of nodes."""

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.metadata_validation import dns_subdomain_name


def validate_node_name(name: str, path: Path) -> FieldErrors:
    for problem in dns_subdomain_name(name, False):
        yield invalid(path, name, problem)
