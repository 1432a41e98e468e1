"""Validation of gadgets; only internal objects are validated."""

from datetime import timedelta

from apimachinery.fieldpath import FieldErrors, Path, duplicate, invalid, required
from apis.gadgets.types import Gadget, GadgetSpec


def validate_gadget(gadget: Gadget) -> FieldErrors:
    yield from validate_spec(gadget.spec, Path("spec"))


def validate_spec(spec: GadgetSpec, path: Path) -> FieldErrors:
    if not spec.model:
        yield required(path.child("model"))
    if spec.timeout % timedelta(seconds=1):
        seconds = spec.timeout.total_seconds()
        yield invalid(path.child("timeout"), seconds, "must be a number of whole seconds")
    seen: set[str] = set()
    for position, part in enumerate(spec.parts):
        name = path.child("parts").index(position).child("name")
        if not part.name:
            yield required(name)
        if part.name in seen:
            yield duplicate(name, part.name)
        seen.add(part.name)
