"""Validation of references to objects of any kind."""

from apimachinery.fieldpath import FieldErrors, Path, invalid, required
from apimachinery.names import is_path_segment_name
from apimachinery.schema import GroupVersion, InvalidGroupVersion
from apis.autoscaling.v2.metrics import CrossVersionObjectReference


def validate_reference(
    reference: CrossVersionObjectReference, path: Path, *, allow_core: bool
) -> FieldErrors:
    """Validate a reference; *allow_core* allows an apiVersion without a group."""
    for name, value in (("kind", reference.kind), ("name", reference.name)):
        if not value:
            yield required(path.child(name))
        for error in is_path_segment_name(value) if value else ():
            yield invalid(path.child(name), value, error)
    try:
        group = GroupVersion.parse(reference.api_version).group
    except InvalidGroupVersion as error:
        yield invalid(path.child("apiVersion"), reference.api_version, str(error))
        return
    if not group and not allow_core:
        rule = "apiVersion must specify API group"
        yield invalid(path.child("apiVersion"), reference.api_version, rule)
