"""The group events.k8s.io as a server installs it; the core group stores its events."""

from typing import Final

from apimachinery.schema import GroupResource
from apis.core import GROUP as CORE_GROUP
from apis.core import v1 as core
from apis.events import GROUP
from apis.events.register import add_to_scheme
from apis.events.strategy import NewEventStrategy
from apiserver import Group, Resource

EVENTS: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "events",
            core.Event,
            NewEventStrategy(),
            short_names=("ev",),
            stored_as=GroupResource(CORE_GROUP, "events"),
        ),
    ),
)
