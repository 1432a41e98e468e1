"""Printer columns of Gadgets."""

from typing import Final

from apis.gadgets.types import Gadget
from apiserver import Column


def model(gadget: Gadget) -> str:
    return gadget.spec.model


def desired(gadget: Gadget) -> int:
    return gadget.spec.replicas


def ready(gadget: Gadget) -> int:
    return gadget.status.ready_replicas


def parts(gadget: Gadget) -> str:
    return ",".join(part.name for part in gadget.spec.parts) or "<none>"


GADGET_COLUMNS: Final = (
    Column("Model", model, description="Model of the gadget."),
    Column("Desired", desired, type="integer", description="Number of desired replicas."),
    Column("Ready", ready, type="integer", description="Number of running replicas."),
    Column("Parts", parts, priority=1, description="Parts of the gadget."),
)
