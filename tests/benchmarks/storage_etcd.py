"""What the etcd backend costs, against the bare gRPC stubs on the same etcd in the same run.

The bare side does the least that is still the operation: one transaction "create if absent", one
read, one list that looks at every record. It retries nothing, authenticates nothing, and cannot
tell what became of a write without an answer. Rounds of both sides take turns, and the ratio is
that of their medians.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import grpc
from aetcd.rpc import rpc_pb2, rpc_pb2_grpc

from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from tests.apiserver.storage.etcd.etcd_server import start_etcd

IN_FLIGHT = 32
PER_CALLER = 100
LISTED = 10_000
ROUNDS = 7
VALUE = b"v" * 1000

Call = Callable[[str], Awaitable[object]]


def run() -> None:
    with tempfile.TemporaryDirectory() as directory, start_etcd(Path(directory)) as address:
        asyncio.run(_measure(address))


async def _measure(address: str) -> None:
    backend = await open_etcd(f"etcd://{address}")
    options = [("grpc.max_receive_message_length", -1)]
    async with grpc.aio.insecure_channel(address, options) as channel:
        bare = Bare(rpc_pb2_grpc.KVStub(channel))
        keys = [f"/listed/{number:05}" for number in range(LISTED)]
        for begin in range(0, LISTED, 500):
            await asyncio.gather(*(bare.create(key) for key in keys[begin : begin + 500]))
        await _compare("create, 32 in flight", "/s", bare.create, _creating(backend))
        await _compare("get, 32 in flight", "/s", bare.get, backend.get, keys=keys)
        await _compare_lists(bare, backend)
    await backend.close()


class Bare:
    """The stubs, and nothing else."""

    def __init__(self, kv: rpc_pb2_grpc.KVStub) -> None:
        self._kv = kv

    async def create(self, name: str) -> None:
        key = name.encode()
        absent = rpc_pb2.Compare(
            result=rpc_pb2.Compare.EQUAL, target=rpc_pb2.Compare.MOD, key=key, mod_revision=0
        )
        put = rpc_pb2.RequestOp(request_put=rpc_pb2.PutRequest(key=key, value=VALUE))
        read = rpc_pb2.RequestOp(request_range=rpc_pb2.RangeRequest(key=key))
        request = rpc_pb2.TxnRequest(compare=[absent], success=[put], failure=[read])
        reply = await self._kv.Txn(request, timeout=5)
        assert reply.succeeded

    async def get(self, name: str) -> bytes:
        reply = await self._kv.Range(rpc_pb2.RangeRequest(key=name.encode()), timeout=5)
        return bytes(reply.kvs[0].value)

    async def list(self, prefix: str) -> int:
        begin = prefix.encode()
        request = rpc_pb2.RangeRequest(key=begin, range_end=begin[:-1] + b"0")
        reply = await self._kv.Range(request, timeout=30)
        records = [(kv.key, kv.value, kv.mod_revision, kv.create_revision) for kv in reply.kvs]
        return len(records)


def _creating(backend: EtcdBackend) -> Call:
    async def create(key: str) -> None:
        await backend.create(key, VALUE)

    return create


async def _compare(
    title: str, unit: str, bare: Call, ours: Call, *, keys: list[str] | None = None
) -> None:
    rates: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS):
        for side, call in enumerate((bare, ours)):
            names = keys or [f"/created/{side}/{number}/{n}" for n in range(IN_FLIGHT * PER_CALLER)]
            rates[side].append(await _rate(call, names))
    _report(title, unit, median(rates[0]), median(rates[1]))


async def _rate(call: Call, names: list[str]) -> float:
    async def caller(number: int) -> None:
        for name in names[number::IN_FLIGHT][:PER_CALLER]:
            await call(name)

    begun = perf_counter()
    await asyncio.gather(*(caller(number) for number in range(IN_FLIGHT)))
    return IN_FLIGHT * PER_CALLER / (perf_counter() - begun)


async def _compare_lists(bare: Bare, backend: EtcdBackend) -> None:
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        calls: tuple[Call, Call] = (bare.list, backend.range)
        for side, call in enumerate(calls):
            begun = perf_counter()
            await call("/listed/")
            rates[side].append(1 / (perf_counter() - begun))
    _report(f"list of {LISTED}", "/s", median(rates[0]), median(rates[1]))


def _report(title: str, unit: str, bare: float, ours: float) -> None:
    print(f"{title:24} bare {bare:9.1f}{unit}  backend {ours:9.1f}{unit}  {ours / bare:6.1%}")
