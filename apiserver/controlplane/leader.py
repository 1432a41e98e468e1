"""Leader election: which worker runs the controllers of the server.

One worker of one server leads: of all servers of a store for some controllers, and of the servers
that have the same groups for others. How it is elected depends on the store:

- in memory: every process has a store of its own and leads it;
- SQLite: an exclusive `flock` on a file beside the database. Nothing is written while idle, and the
  kernel releases the lock of a process that ends, however it ends;
- any other store, such as etcd, may be shared by servers on several machines: a Lease with one
  identity per server, and among the workers of a server the same kind of lock. A worker that is
  respawned has the identity of its predecessor and renews the Lease at once.

A leader that was blocked may overlap with its successor for a moment, so every step of a controller
is idempotent and guarded by uid and resourceVersion.
"""

import asyncio
import errno
import fcntl
import hashlib
import logging
import os
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from apiserver.storage.sqlite.backend import parse_url
from client.client import AsyncClient
from client.leaderelection.leader_election import LeaderElection, LeaderElector, LeadershipLost
from client.leaderelection.lease import leases

log = logging.getLogger(__name__)

LOCK_INTERVAL: Final = 0.2
"""Seconds between two attempts to lock the file; a crashed leader is replaced within that time."""
RETRY_SECONDS: Final = 1.0
"""Seconds before the controllers of a leader are started again after they failed."""
RELEASE_SECONDS: Final = 2.0
"""Seconds for the release of the Lease: a store that does not answer must not delay a stop."""
LEASE_NAMESPACE: Final = "kube-system"
LEASE_NAME: Final = "apiserver-controllers"
LOCK_FILE: Final = "leader.lock"

Work = Callable[[], Awaitable[None]]


class Election(Protocol):
    """Decides when this worker leads."""

    async def run(self, work: Work) -> None:
        """Campaign until cancelled, and run *work* whenever and as long as this worker leads.

        *work* is cancelled when the leadership is lost, and started again when it fails.
        """


class AlwaysLeader:
    """The election of the only worker of a store."""

    async def run(self, work: Work) -> None:
        await supervise(work)


class FileLockElection:
    """Elects one of the workers that share a file system; *path* is the file they lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def run(self, work: Work) -> None:
        async with locked(self._path):
            log.debug("process %d leads: it has locked %s", os.getpid(), self._path)
            await supervise(work)


class LeaseElection:
    """Elects one of several servers by a Lease, and one of the workers of each by a file lock.

    Without *lock* the worker campaigns alone, as a server of its own.
    """

    def __init__(
        self, client: AsyncClient, *, lock: Path | None, timing: LeaderElection | None = None
    ) -> None:
        """*timing* replaces the usual name and durations; its identity is not used."""
        self._client = client
        self._lock = lock
        self._timing = timing or LeaderElection(LEASE_NAME, "unnamed")

    async def run(self, work: Work) -> None:
        if self._lock is None:
            await self._campaign(f"{socket.gethostname()}_{uuid.uuid4()}", work)
            return
        async with locked(self._lock) as descriptor:
            await self._campaign(_server_identity(descriptor), work)

    async def _campaign(self, identity: str, work: Work) -> None:
        election = replace(self._timing, identity=identity)
        while True:
            elector = LeaderElector(leases(self._client, LEASE_NAMESPACE), election)
            try:
                await elector.run(lambda: supervise(work))
            except LeadershipLost as error:
                log.warning("the controllers stop: %s", error)


def election_for(
    storage_url: str, client: AsyncClient, data_dir: Path, *, groups: Iterable[str] = ()
) -> Election:
    """Return how the leader of the store at *storage_url* is elected.

    With *groups*, it is elected among the servers that have exactly these beside the standard ones.
    """
    suffix = _suffix(groups)
    lock = LOCK_FILE + suffix
    scheme = storage_url.partition("://")[0]
    if scheme != "sqlite":
        return LeaseElection(
            client,
            lock=data_dir / lock if data_dir.is_dir() else None,
            timing=LeaderElection(LEASE_NAME + suffix, "unnamed", release_deadline=RELEASE_SECONDS),
        )
    database = parse_url(storage_url).path
    if database is None:
        return AlwaysLeader()
    return FileLockElection(database.with_name(f"{database.name}.{lock}"))


@asynccontextmanager
async def locked(path: Path) -> AsyncIterator[int]:
    """Wait for an exclusive lock on *path*, created if need be; yields its file descriptor.

    The lock is tried for again and again instead of waited for: a thread that waits for a lock
    cannot be cancelled.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _try_lock(descriptor):
            await asyncio.sleep(LOCK_INTERVAL)
        yield descriptor
    finally:
        os.close(descriptor)


def _suffix(groups: Iterable[str]) -> str:
    """Return the same short text for the same groups, none for no groups."""
    names = ",".join(sorted(groups))
    return f"-{hashlib.sha256(names.encode()).hexdigest()[:8]}" if names else ""


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise
    return True


def _server_identity(descriptor: int) -> str:
    """Return what the locked file names this server, after naming it if it is new.

    The host name is added because a data folder may be a copy of another machine's.
    """
    name = os.pread(descriptor, 64, 0).decode("ascii", "replace").strip()
    if not name:
        name = str(uuid.uuid4())
        os.pwrite(descriptor, name.encode(), 0)
    return f"{socket.gethostname()}_{name}"


async def supervise(work: Work) -> None:
    """Run *work* until cancelled, and again whenever it ends."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("the controllers of the server failed and are started again")
        await asyncio.sleep(RETRY_SECONDS)
