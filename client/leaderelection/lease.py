"""Lease (coordination.k8s.io/v1): the object with which candidates elect a leader.

It is defined here because the client does not depend on API groups; only leader election uses it.
"""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime
from apimachinery.scalars.wire_types import Int32
from client.client import AsyncClient
from client.interface import ResourceClient

API_VERSION: Final = "coordination.k8s.io/v1"


class ElectionLeaseSpec(Model):
    """The holder of a lease, when it was acquired and renewed, and its duration."""

    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: Int32 | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class ElectionLease(Object, kind="Lease"):
    """A lease, held by at most one candidate at a time."""

    spec: ElectionLeaseSpec = field(default_factory=ElectionLeaseSpec)


def leases(client: AsyncClient, namespace: str) -> ResourceClient[ElectionLease]:
    """Return the client of the leases of a namespace."""
    return client.of(ElectionLease, namespace=namespace, resource="leases", api_version=API_VERSION)
