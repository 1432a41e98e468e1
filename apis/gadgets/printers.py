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
    Column("Model", model, description="Which gadget it is."),
    Column("Desired", desired, type="integer", description="How many are wanted."),
    Column("Ready", ready, type="integer", description="How many are running."),
    Column("Parts", parts, priority=1, description="What it is made of."),
)
