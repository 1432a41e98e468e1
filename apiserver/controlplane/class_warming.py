"""Class warming: builds the classes of stable groups while the server is already serving.

A start does not build them (`Group.stable`), and the first request for a Pod would hold the event
loop until all classes in it are built. So they are built one by one, with pauses for requests.
"""

import asyncio
from typing import Final

from apimachinery.model.class_building import unbuilt_classes
from apimachinery.model.class_fields import fields_of
from apiserver.install import Groups

DELAY: Final = 1.0
"""Seconds after the start in which clients that were waiting for the server go first."""
PAUSE: Final = 0.005
"""Seconds between two classes."""


async def build_stable_classes(groups: Groups, *, delay: float = DELAY) -> None:
    """Build the classes of all stable groups."""
    await asyncio.sleep(delay)
    kinds = groups.scheme.object_kinds()
    names = {installed.group.name for installed in groups if installed.group.stable}
    for cls in unbuilt_classes([cls for kind, cls in kinds.items() if kind.group in names]):
        fields_of(cls)
        await asyncio.sleep(PAUSE)
