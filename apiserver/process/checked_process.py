"""Checked process: imports and checks a configuration apart from its master, then serves it.

A master must neither serve nor replace anything before its configuration has been checked, and it
must not import what it checks: workers are forked from it, and modules that it has imported could
not be reloaded. So a process of its own makes the check. As importing and building all groups is
most of what a start does, the process is not ended after a check without problems: the master makes
it the first worker.

The two talk over a pair of sockets, in pickled messages. If the master ends or closes its socket,
the process ends.
"""

import os
import pickle
import select
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Final, NoReturn, Self

from apiserver.config import ServerConfig
from apiserver.process.start_report import StartRefused, StartReport
from apiserver.process.supervised_worker import end_when_stopped, importing

_CHECK: Final = "apiserver.process.start_check:check_start"
_PREPARE: Final = "apiserver.process.start_check:prepare_files"
_LENGTH: Final = struct.Struct("!Q")
_STOP_CHECK_SECONDS: Final = 0.5
_FAILED: Final = 1
"""The exit code after an error; the master then starts other workers."""
_MAX_SOCKETS: Final = 250
"""The maximum number of descriptors that the kernel passes with one message."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a process needs to become a worker, beside open files."""

    age: int
    """gunicorn's number of the worker."""
    master: int
    """The process that the worker ends with."""
    share: int
    """Its place among the workers that divide the connections."""
    settings: dict[str, Any]
    state: Any
    """What else the command passes on to its workers."""


@dataclass(frozen=True, slots=True)
class _Call:
    function: str
    config: ServerConfig


Become = Callable[[Assignment, Sequence[int]], NoReturn]
"""Serves as a worker, with descriptors of the heartbeat file and of the listening sockets."""


class CheckedProcess:
    """A process that has imported a configuration, from the side of its master."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self._channel = channel

    @classmethod
    def fork(cls, become: Become) -> Self:
        """Start a process that checks what it is sent, and calls *become* when it is assigned."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if not pid:
            ours.close()
            _serve_master(theirs, become)
        theirs.close()
        return cls(pid, ours)

    def check(
        self,
        config: ServerConfig,
        *,
        reload: bool = False,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> StartReport:
        """Check the groups and the stored objects. Raises StartRefused if there are problems.

        Importing groups may take any time; a master that *is_stopping* meanwhile gives up.
        """
        report = self._call(_CHECK, config, is_stopping)
        if report.problems:
            raise StartRefused(report.problems)
        if reload and report.store_problem:
            raise StartRefused([f"the stored objects cannot be checked: {report.store_problem}"])
        return report

    def prepare_files(self, config: ServerConfig) -> None:
        """Create and read the files of the data folder. Raises StartRefused."""
        report = self._call(_PREPARE, config)
        if report.problems:
            raise StartRefused(report.problems)

    def assign(self, assignment: Assignment, files: Sequence[int]) -> bool:
        """Make the process a worker; return False if it has ended."""
        try:
            _send(self._channel, assignment)
            socket.send_fds(self._channel, [b"."], list(files))
        except OSError:
            self.close()
            return False
        self._channel.close()
        return True

    def close(self) -> None:
        """End the process, whatever it does, and wait until it has ended."""
        self._channel.close()
        # The master may have noticed the end already.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def _call(
        self, function: str, config: ServerConfig, is_stopping: Callable[[], bool] = lambda: False
    ) -> StartReport:
        with suppress(OSError):
            _send(self._channel, _Call(function, config))
            while not select.select([self._channel], [], [], _STOP_CHECK_SECONDS)[0]:
                if is_stopping():
                    raise StartRefused(["the server was stopped during the check"])
            report = _receive(self._channel)
            if isinstance(report, StartReport):
                return report
        importing = ", ".join(config.groups) or "the groups"
        raise StartRefused([f"importing {importing} terminated the process"])


def _serve_master(channel: socket.socket, become: Become) -> NoReturn:
    """Answer the master and become a worker; no error may return into the master's own code."""
    try:
        _answer(channel, become)
    except SystemExit:  # of a worker that has served: as with workers that gunicorn forks
        raise
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(_FAILED)


def _answer(channel: socket.socket, become: Become) -> NoReturn:
    """Make the checks that the master requests, until it assigns a worker or goes away."""
    end_when_stopped()
    for number in (signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    while isinstance(request := _next_request(channel), _Call):
        with importing():
            report = resolve_name(request.function)(request.config)
        with suppress(OSError):  # the master goes away, which the next request shows
            _send(channel, report)
    if not isinstance(request, Assignment):
        # Not sys.exit: what the master has registered for its end is not for this process.
        os._exit(0)
    _, files, _, _ = socket.recv_fds(channel, 1, _MAX_SOCKETS)
    channel.close()
    if not files:
        os._exit(0)  # the master has ended in between
    become(request, files)


def _next_request(channel: socket.socket) -> Any:
    """Return what the master sends next, None if it is gone."""
    try:
        return _receive(channel)
    except OSError:
        return None


def _send(channel: socket.socket, message: object) -> None:
    data = pickle.dumps(message)
    channel.sendall(_LENGTH.pack(len(data)) + data)


def _receive(channel: socket.socket) -> Any:
    """Return the next message, None if the other side has closed."""
    head = _read(channel, _LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = _read(channel, length)
    return pickle.loads(data) if len(data) == length else None


def _read(channel: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length and (part := channel.recv(length - len(data))):
        data += part
    return bytes(data)
