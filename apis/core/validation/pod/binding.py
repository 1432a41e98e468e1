"""Validation of bindings, which assign a pod to a node."""

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apis.core.v1.binding import Binding


def validate_pod_binding(binding: Binding) -> FieldErrors:
    target = binding.target
    if target.kind not in ("", "Node"):
        yield not_supported(Path("target", "kind"), target.kind, ("Node", "<empty>"))
    if not target.name:
        yield required(Path("target", "name"))
    elif target.kind in ("", "Node"):
        for error in dns_subdomain_name(target.name, False):
            yield invalid(Path("target", "name"), target.name, error)
