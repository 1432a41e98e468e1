"""Types of gadgets.example.io/v1."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apis.gadgets.types import GadgetStatus, Part

LONGEST_TIMEOUT = 9_223_372_036
"""The seconds of the longest duration that v1beta1 can express: conversion cannot fail."""


class GadgetSpec(Model):
    """Configuration of a gadget."""

    model: str = field(doc="Model of the gadget.")
    replicas: int = field(1, ge=0, le=100, doc="Number of desired replicas.")
    timeout_seconds: int = field(
        60, ge=1, le=LONGEST_TIMEOUT, doc="Time limit for the start of a replica."
    )
    parts: list[Part] = field(
        default_factory=list,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Parts of the gadget.",
    )


class Gadget(Object):
    """Gadget is the example kind."""

    spec: GadgetSpec = field(doc="Desired state of the gadget.")
    status: GadgetStatus = field(default_factory=GadgetStatus, doc="Observed state of the gadget.")
