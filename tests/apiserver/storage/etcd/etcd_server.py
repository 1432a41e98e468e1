"""Real etcd servers on loopback for tests: one node, or a cluster whose nodes can be hurt.

The binary is that of `etcd_binary`.
"""

import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from aetcd.rpc import rpc_pb2, rpc_pb2_grpc

from tests.apiserver.storage.etcd.etcd_binary import etcd_binary

_START_SECONDS = 30.0
_ATTEMPTS = 3
_POLL_SECONDS = 0.02


class EtcdFailed(Exception):
    """An etcd process ended or did not answer; the message has the end of its log."""


@contextmanager
def start_etcd(directory: Path, *arguments: str) -> Iterator[str]:
    """Run one etcd with its data in *directory*, and yield its "127.0.0.1:PORT" once it answers."""
    with start_cluster(directory, size=1, arguments=arguments) as cluster:
        yield cluster.nodes[0].address


@contextmanager
def start_cluster(
    directory: Path, *, size: int = 3, arguments: Sequence[str] = (), scheme: str = "http"
) -> Iterator["Cluster"]:
    """Run *size* members of one cluster, and yield them once all of them answer."""
    nodes = _started(directory, size=size, arguments=arguments, scheme=scheme)
    try:
        yield Cluster(nodes)
    finally:
        for node in nodes:
            node.kill()


@dataclass
class Node:
    """One member; its data outlives its process."""

    name: str
    directory: Path
    client_port: int
    metrics_port: int
    command: list[str]
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def address(self) -> str:
        """Where clients reach it."""
        return f"127.0.0.1:{self.client_port}"

    @property
    def running(self) -> bool:
        """Whether the process is there; a paused one is."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start or restart the process on the data it had; does not wait until it answers."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def kill(self) -> None:
        """End the process as a power cut does: nothing is said to peers or clients."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Stop the process in its tracks; its connections stay open and silent."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process go on, with no idea of the time that passed."""
        self._signal(signal.SIGCONT)

    def wait_healthy(self, seconds: float = _START_SECONDS) -> None:
        """Wait until it answers a linearizable read, so it has a leader and a quorum."""
        deadline = time.monotonic() + seconds
        while not self._healthy():
            if not self.running:
                raise EtcdFailed(f"{self.name} ended:\n{self._log_tail()}")
            if time.monotonic() > deadline:
                raise EtcdFailed(f"{self.name} is not healthy:\n{self._log_tail()}")
            time.sleep(_POLL_SECONDS)

    def is_leader(self) -> bool:
        """Whether it believes that it leads, which a node just resumed may do wrongly."""
        try:
            return b"\netcd_server_is_leader 1\n" in self._fetch("metrics")
        except OSError:
            return False

    def _signal(self, number: signal.Signals) -> None:
        if self.process is None:
            raise EtcdFailed(f"{self.name} is not running")
        self.process.send_signal(number)

    def _healthy(self) -> bool:
        try:
            return bool(json.loads(self._fetch("health"))["health"] == "true")
        except (OSError, ValueError):
            return False

    def _fetch(self, path: str) -> bytes:
        url = f"http://127.0.0.1:{self.metrics_port}/{path}"
        # Proxies of the environment are not for loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=1.0) as reply:
            content: bytes = reply.read()
        return content

    def _log_tail(self) -> str:
        return (self.directory / "log").read_text(errors="replace")[-3000:]


@dataclass(frozen=True)
class Cluster:
    """The members of one etcd."""

    nodes: list[Node]

    @property
    def hosts(self) -> str:
        """All client addresses as an etcd URL takes them."""
        return ",".join(node.address for node in self.nodes)

    def leader(self, seconds: float = _START_SECONDS) -> Node:
        """The node that leads, waited for while there is none."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for node in self.nodes:
                if node.running and node.is_leader():
                    return node
            time.sleep(_POLL_SECONDS)
        raise EtcdFailed("no node leads")

    def wait_healthy(self) -> None:
        """Wait until every node that runs answers."""
        for node in self.nodes:
            if node.running:
                node.wait_healthy()

    def disagreement(self) -> str | None:
        """How the members differ about the same revision, None if they do not.

        All of them must run and nobody may write. A member that is behind is waited for; one that
        has applied the same log and has another history is broken, and so is every promise.
        """
        hashes: dict[str, int] = {}
        revision = min(_hash(node, 0).header.revision for node in self.nodes)
        for node in self.nodes:
            hashes[node.name] = _hash(node, revision).hash
        if len(set(hashes.values())) == 1:
            return None
        return f"the members differ about revision {revision}: {hashes}"

    def mend(self) -> None:
        """Start what was killed, continue what was stopped, and wait until all answer."""
        for node in self.nodes:
            if node.running:
                node.resume()
            else:
                node.start()
        self.wait_healthy()


@contextmanager
def excusing_divergence(cluster: Cluster) -> Iterator[None]:
    """Skip a test that killed members and failed, if the release is known to diverge and has.

    Known is not enough: the members' own hashes of the same revision must differ, and are printed.
    Every other failure stands, and so does any on another release.
    """
    try:
        yield
    except Exception as failure:
        binary = etcd_binary()
        if not binary.diverges:
            raise
        cluster.mend()
        proof = cluster.disagreement()
        if proof is None:
            raise
        reason = f"etcd {binary.release} itself became inconsistent: {proof}"
        print(f"{reason}; the test saw {failure!r}")
        pytest.skip(reason)


def _hash(node: Node, revision: int) -> rpc_pb2.HashKVResponse:
    with grpc.insecure_channel(node.address) as channel:
        maintenance = rpc_pb2_grpc.MaintenanceStub(channel)
        return maintenance.HashKV(rpc_pb2.HashKVRequest(revision=revision), timeout=10)


def _started(directory: Path, *, size: int, arguments: Sequence[str], scheme: str) -> list[Node]:
    # A port found free can be taken by somebody else before etcd binds it: then try others.
    for attempt in range(_ATTEMPTS):
        nodes = _nodes(
            directory / f"attempt{attempt}", size=size, arguments=arguments, scheme=scheme
        )
        try:
            for node in nodes:
                node.start()
            for node in nodes:
                node.wait_healthy()
        except BaseException as error:
            for node in nodes:
                node.kill()
            if not isinstance(error, EtcdFailed) or "address already in use" not in str(error):
                raise
        else:
            return nodes
    raise EtcdFailed(f"found no free ports in {_ATTEMPTS} attempts")


def _nodes(directory: Path, *, size: int, arguments: Sequence[str], scheme: str) -> list[Node]:
    binary = etcd_binary()
    ports = _free_ports(3 * size)
    names = [f"node{number}" for number in range(size)]
    peers = {name: f"http://127.0.0.1:{ports.pop()}" for name in names}
    members = ",".join(f"{name}={url}" for name, url in peers.items())
    nodes = []
    for name in names:
        client_port, metrics_port = ports.pop(), ports.pop()
        client_url = f"{scheme}://127.0.0.1:{client_port}"
        options = {
            "name": name,
            "data-dir": str(directory / name / "data"),
            "listen-client-urls": client_url,
            "advertise-client-urls": client_url,
            "listen-metrics-urls": f"http://127.0.0.1:{metrics_port}",
            "listen-peer-urls": peers[name],
            "initial-advertise-peer-urls": peers[name],
            "initial-cluster": members,
            # The token keeps clusters apart whose ports were given away and reused.
            "initial-cluster-token": str(directory),
            "heartbeat-interval": "50",
            "election-timeout": "500",
            "log-level": "warn",
            **binary.options,
        }
        command = [*binary.command]
        command += [f"--{option}={value}" for option, value in options.items()]
        node = Node(name, directory / name, client_port, metrics_port, [*command, *arguments])
        nodes.append(node)
    return nodes


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
