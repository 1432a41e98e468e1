"""Validation of a version's subresources."""

from apimachinery.fieldpath import FieldErrors, Path, invalid, required
from apis.apiextensions.v1 import CustomResourceSubresources


def validate_subresources(subresources: CustomResourceSubresources, path: Path) -> FieldErrors:
    scale = subresources.scale
    if scale is None:
        return
    for wire, text, parent in (
        ("specReplicasPath", scale.spec_replicas_path, ".spec"),
        ("statusReplicasPath", scale.status_replicas_path, ".status"),
    ):
        here = path.child(f"scale.{wire}")
        if not text:
            yield required(here)
        elif problems := list(validate_simple_path(text, here)):
            yield from problems
        elif not text.startswith(f"{parent}."):
            yield invalid(here, text, f"should be a json path under {parent}")
    selector, here = scale.label_selector_path, path.child("scale.labelSelectorPath")
    if selector:
        if problems := list(validate_simple_path(selector, here)):
            yield from problems
        elif not selector.startswith((".spec.", ".status.")):
            yield invalid(here, selector, "should be a json path under either .spec or .status")


def validate_simple_path(text: str, path: Path) -> FieldErrors:
    """Validate a path of field names, each preceded by a dot."""
    if not text:
        yield invalid(path, text, "must not be empty")
    elif not text.startswith("."):
        yield invalid(path, text, "must be a simple json path starting with .")
