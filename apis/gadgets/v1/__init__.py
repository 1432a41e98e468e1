from apis.gadgets.v1.types import Gadget, GadgetSpec

__all__ = ["Gadget", "GadgetSpec"]
