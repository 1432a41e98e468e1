from apis.gadgets.v1beta1.types import Gadget, GadgetSpec

__all__ = ["Gadget", "GadgetSpec"]
