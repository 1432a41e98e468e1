"""Strategy of Gadgets."""

from apimachinery.fieldpath import FieldErrors
from apis.gadgets.types import Gadget
from apis.gadgets.validation import validate_gadget
from apiserver import Strategy


class GadgetStrategy(Strategy[Gadget]):
    """Only validation differs from the defaults for kinds with a spec and a status."""

    def validate(self, obj: Gadget) -> FieldErrors:
        yield from validate_gadget(obj)
