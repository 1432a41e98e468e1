"""Delivery: what the system of a client has received of the output of a connection.

A client that reads slowly differs from one that reads nothing only in this. The buffer of the
transport does not show it: with TLS the encrypted output waits in the buffer of another transport,
which uvloop keeps to itself, and the kernel takes from a buffer only in large steps. So the bytes
that the client has acknowledged are read from the kernel.
"""

import socket
import struct
from asyncio import Transport
from typing import Final

_TCP_INFO: Final = getattr(socket, "TCP_INFO", None)
"""Linux has it, others may not."""
# linux/tcp.h, struct tcp_info: tcpi_unacked, tcpi_bytes_acked, tcpi_notsent_bytes
_FIELDS: Final = struct.Struct("=24x I 92x Q 16x I")


class Delivery:
    """What has been delivered through one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._acknowledged, self._in_kernel = self._read_kernel()
        self._buffered = transport.get_write_buffer_size()

    def has_progressed(self) -> bool:
        """Whether the client has received something since the last call."""
        before = self._acknowledged, self._buffered
        self._acknowledged, self._in_kernel = self._read_kernel()
        self._buffered = self._transport.get_write_buffer_size()
        if self._acknowledged is None or before[0] is None:
            return self._buffered < before[1]
        return self._acknowledged > before[0]

    @property
    def is_pending(self) -> bool:
        """Whether the client may still have to receive something; as of the last call."""
        return self._in_kernel or self._buffered > 0

    def _read_kernel(self) -> tuple[int | None, bool]:
        """Return the bytes that were acknowledged, and whether others may wait in the kernel."""
        raw = self._transport.get_extra_info("socket")
        if raw is None or _TCP_INFO is None:
            return None, True
        try:
            found = raw.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _FIELDS.size)
        except OSError:  # no TCP, or closed
            return None, True
        if len(found) < _FIELDS.size:  # an older system
            return None, True
        unacknowledged, acknowledged, unsent = _FIELDS.unpack(found)
        return acknowledged, bool(unacknowledged or unsent)
