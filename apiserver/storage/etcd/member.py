"""etcd member: the connections to one endpoint, and the methods that are called over them."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
from aetcd.rpc import rpc_pb2, rpc_pb2_grpc

from apiserver.storage.backends import InvalidURL
from apiserver.storage.etcd.http2_channel import Http2Channel, StreamMethod, UnaryMethod
from apiserver.storage.etcd.url import EtcdSettings, Tls

# Members close connections that ping more often than every five seconds.
_KEEPALIVE_SECONDS: Final = 10


class KeyValueMethods:
    """etcd's service KV: reads and transactions without grpcio, the rest with it."""

    def __init__(self, channel: Http2Channel, stub: rpc_pb2_grpc.KVStub) -> None:
        service = "/etcdserverpb.KV"
        self.Range = UnaryMethod(
            channel, f"{service}/Range", rpc_pb2.RangeResponse.FromString, stub.Range
        )
        self.Txn = UnaryMethod(channel, f"{service}/Txn", rpc_pb2.TxnResponse.FromString, stub.Txn)
        self.Compact = stub.Compact


class WatchMethods:
    """etcd's service Watch, without grpcio."""

    def __init__(self, channel: Http2Channel, stub: rpc_pb2_grpc.WatchStub) -> None:
        self.Watch = StreamMethod(
            channel, "/etcdserverpb.Watch/Watch", rpc_pb2.WatchResponse.FromString, stub.Watch
        )


@dataclass(frozen=True, slots=True)
class Member:
    """One endpoint, with its channels and its services."""

    address: str
    http2: Http2Channel
    grpc: grpc.aio.Channel
    kv: KeyValueMethods
    watch: WatchMethods
    lease: rpc_pb2_grpc.LeaseStub
    auth: rpc_pb2_grpc.AuthStub
    maintenance: rpc_pb2_grpc.MaintenanceStub

    async def close(self) -> None:
        """End all calls."""
        await self.http2.close()
        await self.grpc.close()


def open_members(settings: EtcdSettings) -> list[Member]:
    """Prepare the channels to all endpoints; calls connect them. Raises InvalidURL."""
    credentials = _tls_credentials(settings.tls) if settings.tls else None
    context = _tls_context(settings.tls) if settings.tls else None
    options = _options(settings)
    return [
        _member(address, settings, credentials, context, options) for address in settings.addresses
    ]


def _member(
    address: str,
    settings: EtcdSettings,
    credentials: grpc.ChannelCredentials | None,
    context: ssl.SSLContext | None,
    options: list[tuple[str, int | str]],
) -> Member:
    if credentials is None:
        channel = grpc.aio.insecure_channel(address, options)
    else:
        channel = grpc.aio.secure_channel(address, credentials, options)
    http2 = Http2Channel(
        address,
        tls=context,
        server_name=settings.tls.server_name if settings.tls else None,
        timeout=settings.timeout,
        keepalive=_KEEPALIVE_SECONDS,
    )
    return Member(
        address=address,
        http2=http2,
        grpc=channel,
        kv=KeyValueMethods(http2, rpc_pb2_grpc.KVStub(channel)),
        watch=WatchMethods(http2, rpc_pb2_grpc.WatchStub(channel)),
        lease=rpc_pb2_grpc.LeaseStub(channel),
        auth=rpc_pb2_grpc.AuthStub(channel),
        maintenance=rpc_pb2_grpc.MaintenanceStub(channel),
    )


def _options(settings: EtcdSettings) -> list[tuple[str, int | str]]:
    timeout = int(settings.timeout * 1000)
    options: list[tuple[str, int | str]] = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", _KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", timeout),
        # Without this a silent connection is closed only after a minute, despite the settings
        # above.
        ("grpc.http2.ping_timeout_ms", max(timeout, 1000)),
        ("grpc.http2.max_pings_without_data", 0),
        # The timeout of a connection attempt, and the pauses between attempts.
        ("grpc.min_reconnect_backoff_ms", timeout),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1000),
        # Do not share connections, and their failures, with another backend in this process.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    ]
    if settings.tls is not None and settings.tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", settings.tls.server_name))
    return options


def _tls_credentials(tls: Tls) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=_read_file("ca", tls.ca),
        private_key=_read_file("key", tls.key),
        certificate_chain=_read_file("cert", tls.certificate),
    )


def _tls_context(tls: Tls) -> ssl.SSLContext:
    try:
        # With a file, only that is trusted; without, what the system trusts.
        context = ssl.create_default_context(cafile=tls.ca)
        if tls.certificate is not None:
            context.load_cert_chain(tls.certificate, tls.key)
    except (OSError, ValueError) as error:
        raise InvalidURL(f"etcd URL: parameters 'ca', 'cert' and 'key': {error}") from error
    # As grpcio: newer Pythons are stricter, and would refuse certificates that work today.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["h2"])
    return context


def _read_file(parameter: str, path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise InvalidURL(f"etcd URL: parameter {parameter!r}: {error}") from error
