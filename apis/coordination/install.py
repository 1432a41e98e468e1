"""The group coordination.k8s.io as a server installs it."""

from typing import Final

from apis.coordination import GROUP, v1
from apis.coordination.printers import LEASE_COLUMNS
from apis.coordination.register import add_to_scheme
from apis.coordination.strategy import LeaseStrategy
from apiserver import Group, Resource

COORDINATION: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(Resource("leases", v1.Lease, LeaseStrategy(), columns=LEASE_COLUMNS),),
)
