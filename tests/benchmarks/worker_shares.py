"""How evenly the workers of a server divide connections that stay open, and what accepting costs.

Connections are opened the way clients do: many at the same time, each with a TLS handshake and one
request, and then kept. A share is compared with an equal one. The processor time is that of the
workers for one connection with its handshake and request.
"""

import asyncio
import ssl
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from tests.servers import Server, serving

WORKERS: Final = (2, 4, 8)
CONNECTIONS: Final = (8, 64, 500)
AT_ONCE: Final = 32
ESTABLISHED: Final = "01"
TICKS: Final = 100
"""Units of processor time per second."""


def run() -> None:
    print(
        f"{'workers':>7} {'connections':>11}  {'connections of each worker':<40} largest, smallest"
    )
    for workers in WORKERS:
        with (
            tempfile.TemporaryDirectory() as folder,
            serving(Path(folder), workers=workers) as server,
        ):
            asyncio.run(_measure(server, workers))


async def _measure(server: Server, workers: int) -> None:
    await _until_all_serve(server, workers)
    for connections in CONNECTIONS:
        before = _processor_time(server)
        opened = await _open(server, connections)
        used = _processor_time(server) - before
        shares = sorted(_shares(server).values(), reverse=True)
        for _, writer in opened:
            writer.close()
        await asyncio.gather(
            *(writer.wait_closed() for _, writer in opened), return_exceptions=True
        )
        fair = connections / workers
        print(
            f"{workers:>7} {connections:>11}  {' '.join(map(str, shares)):<40} "
            f"{shares[0] / fair:.2f} x fair, {shares[-1] / fair:.2f} x fair, "
            f"{used / connections * 1e3:.1f} ms of a core each"
        )
        while sum(_shares(server).values()):
            await asyncio.sleep(0.05)


Opened = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


async def _until_all_serve(server: Server, workers: int) -> None:
    """Wait until each worker accepts connections: they start one after another."""
    opened: Opened = []
    while len([count for count in _shares(server).values() if count]) < workers:
        opened += await _open(server, 1)
        await asyncio.sleep(0.05)
    for _, writer in opened:
        writer.close()
    while sum(_shares(server).values()):
        await asyncio.sleep(0.05)


async def _open(server: Server, count: int) -> Opened:
    """Open connections and send one request over each."""
    context = ssl.create_default_context(cafile=server.ca_certificate)
    seats = asyncio.Semaphore(AT_ONCE)

    async def one() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with seats:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context)
            writer.write(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            return reader, writer

    return list(await asyncio.gather(*(one() for _ in range(count))))


def _shares(server: Server) -> dict[int, int]:
    """Return the number of established connections of each worker."""
    inodes = _connected(server.port)
    shares: Counter[int] = Counter()
    for pid in server.workers():
        shares[pid] = 0
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(descriptor.readlink())
            except OSError:
                continue
            shares[pid] += target in inodes
    return dict(shares)


def _connected(port: int) -> set[str]:
    """Return the sockets that are connected to *port*, as the kernel names them."""
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state = line.split()[:4]
        if state == ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
            found.add(f"socket:[{line.split()[9]}]")
    return found


def _processor_time(server: Server) -> float:
    total = 0
    for pid in server.workers():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


if __name__ == "__main__":
    run()
