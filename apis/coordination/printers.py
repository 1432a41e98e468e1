"""Printer columns of Leases."""

from typing import Final

from apis.coordination.v1 import Lease
from apiserver import Column


def holder(lease: Lease) -> str:
    return lease.spec.holder_identity or ""


LEASE_COLUMNS: Final = (
    Column("Holder", holder, description="Identity of the holder of the lease."),
)
