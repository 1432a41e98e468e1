"""Gadget controller: keeps a ConfigMap for each part of a gadget, and reports in the status.

A complete small controller. It reads the current state, corrects it and reports; it depends neither
on which event happened nor on how often it is called.
"""

from typing import Final

from apimachinery.scheme import Scheme
from apis.core.register import add_to_scheme as add_core
from apis.core.v1 import ConfigMap
from apis.gadgets import v1
from apis.gadgets.register import add_to_scheme as add_gadgets
from apis.gadgets.types import Part
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager

NAME: Final = "gadget-controller"
GADGET: Final = "gadgets.example.io/gadget"
PART: Final = "gadgets.example.io/part"
"""Labels of the objects that belong to a gadget."""


def setup(manager: Manager) -> None:
    """Add the controller to a manager."""
    manager.controller(v1.Gadget, owns=[ConfigMap], workers=4)(reconcile)


async def reconcile(ctx: Context[v1.Gadget]) -> None:
    """Reconcile the ConfigMaps of one gadget with its spec."""
    gadget = await ctx.get()
    if gadget is None or gadget.metadata.deletion_timestamp is not None:
        return  # garbage collection deletes the ConfigMaps that it owns
    for part in gadget.spec.parts:
        await ctx.apply(_config_map(ctx, gadget, part))
    removed = await _remove_others(ctx, gadget)
    if removed:
        ctx.event("Normal", "PartsRemoved", f"removed {', '.join(removed)}")
    await _report(ctx, gadget)


async def run(client: AsyncClient, *, probes: str = "", metrics: str = "") -> None:
    """Run the controller as a program of its own, until a signal stops it."""
    manager = Manager(
        client, name=NAME, leader_election=True, probes=probes, metrics_address=metrics
    )
    setup(manager)
    await manager.start(signals=True)


def scheme() -> Scheme:
    """Return the scheme that the controller's client needs."""
    kinds = Scheme()
    add_core(kinds)
    add_gadgets(kinds)
    return kinds


def _config_map(ctx: Context[v1.Gadget], gadget: v1.Gadget, part: Part) -> ConfigMap:
    data = {"model": gadget.spec.model, "size": str(part.size)}
    if part.port is not None:
        data["port"] = str(part.port)
    return ctx.owned(
        ConfigMap,
        name=f"{gadget.metadata.name}-{part.name}",
        labels={GADGET: gadget.metadata.name, PART: part.name},
        data=data,
    )


async def _remove_others(ctx: Context[v1.Gadget], gadget: v1.Gadget) -> list[str]:
    wanted = {f"{gadget.metadata.name}-{part.name}" for part in gadget.spec.parts}
    stale = [m for m in await ctx.children(ConfigMap) if m.metadata.name not in wanted]
    for config_map in stale:
        await ctx.delete(config_map)
    return sorted(config_map.metadata.name for config_map in stale)


async def _report(ctx: Context[v1.Gadget], gadget: v1.Gadget) -> None:
    def observed(newest: v1.Gadget) -> None:
        newest.status.ready_replicas = gadget.spec.replicas
        newest.status.observed_generation = gadget.metadata.generation

    await ctx.modify_status(observed)
    count = len(gadget.spec.parts)
    changed = await ctx.set_condition(
        "Ready", True, reason="PartsInPlace", message=f"{count} parts are in place"
    )
    if changed:
        ctx.event("Normal", "Synced", f"{count} parts are in place")
