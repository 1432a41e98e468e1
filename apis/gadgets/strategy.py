"""How gadgets are written: the status apart, the generation raised by a change of the spec."""

from apimachinery.fieldpath import FieldErrors
from apis.gadgets.types import Gadget
from apis.gadgets.validation import validate_gadget
from apiserver import Strategy


class GadgetStrategy(Strategy[Gadget]):
    """All but the rules is what every kind with a spec and a status does."""

    def validate(self, obj: Gadget) -> FieldErrors:
        yield from validate_gadget(obj)
