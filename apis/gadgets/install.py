"""The example group as a server installs it."""

from typing import Final

from apis.gadgets import GROUP
from apis.gadgets.printers import GADGET_COLUMNS
from apis.gadgets.register import add_to_scheme
from apis.gadgets.strategy import GadgetStrategy
from apis.gadgets.types import Gadget
from apiserver import STATUS, Group, Resource, scale

GADGETS: Final = Group(
    name=GROUP,
    versions=("v1", "v1beta1"),
    add_to_scheme=add_to_scheme,
    deprecated={"v1beta1": "v1"},
    resources=(
        Resource(
            "gadgets",
            Gadget,
            GadgetStrategy(),
            short_names=("gd",),
            categories=("all",),
            subresources=(
                STATUS,
                scale(spec_replicas="spec.replicas", status_replicas="status.ready_replicas"),
            ),
            columns=GADGET_COLUMNS,
        ),
    ),
)
