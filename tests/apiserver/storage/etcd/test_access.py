"""TLS, client certificates, users and tokens, against real etcds that insist on them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from aetcd.rpc import auth_pb2, rpc_pb2, rpc_pb2_grpc

from apimachinery.certificates import CertificateAuthority
from apiserver.storage.etcd.backend import EtcdBackend, open_etcd
from apiserver.storage.etcd.errors import AccessDenied
from apiserver.storage.interface import Unavailable
from tests.apiserver.storage.etcd.etcd_proxy import start_proxy
from tests.apiserver.storage.etcd.etcd_server import start_cluster, start_etcd

PASSWORD = "p@ss/w:rd"
ENCODED = "p%40ss%2Fw%3Ard"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CA, and certificates of a server named etcd.test and of a client."""
    directory = tmp_path_factory.mktemp("certificates")
    now = datetime.now(UTC)
    authority = CertificateAuthority.create(now=now)
    pairs = {
        "ca": authority.pair,
        "server": authority.issue_serving(["etcd.test"], now=now),
        "client": authority.issue_client("client", [], now=now, lifetime=timedelta(hours=1)),
    }
    for name, pair in pairs.items():
        (directory / f"{name}.crt").write_bytes(pair.certificate)
        (directory / f"{name}.key").write_bytes(pair.key)
    return directory


@pytest.fixture(scope="module")
def secure(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    arguments = [
        f"--cert-file={certificates}/server.crt",
        f"--key-file={certificates}/server.key",
        f"--trusted-ca-file={certificates}/ca.crt",
        "--client-cert-auth",
        # The gateway would call etcd with the certificate of the server, which is no client's.
        "--enable-grpc-gateway=false",
    ]
    directory = tmp_path_factory.mktemp("secure")
    with start_cluster(directory, size=1, arguments=arguments, scheme="https") as cluster:
        yield cluster.hosts


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An etcd with a root and with a user who may use what begins with /mine."""
    with start_etcd(tmp_path_factory.mktemp("guarded")) as address:
        asyncio.run(_guard(address))
        yield address


@pytest.fixture
async def backend(guarded: str) -> AsyncIterator[EtcdBackend]:
    backend = await open_etcd(f"etcd://user:{ENCODED}@{guarded}?prefix=/mine")
    yield backend
    await backend.close()


async def test_tls_with_a_client_certificate(secure: str, certificates: Path) -> None:
    files = f"ca={certificates}/ca.crt&cert={certificates}/client.crt&key={certificates}/client.key"
    backend = await open_etcd(f"etcd://{secure}?{files}&server-name=etcd.test")

    revision = await backend.create("/a", b"1")

    async with backend.watch("/", after=revision - 1) as feed:
        assert (await anext(feed)).revision == revision
    await backend.close()


async def test_a_server_whose_certificate_has_another_name_is_not_talked_to(
    secure: str, certificates: Path
) -> None:
    files = f"ca={certificates}/ca.crt&cert={certificates}/client.crt&key={certificates}/client.key"

    with pytest.raises(Unavailable):
        await open_etcd(f"etcd://{secure}?{files}&server-name=other.test&timeout=0.2")


async def test_without_its_certificate_a_client_is_not_let_in(
    secure: str, certificates: Path
) -> None:
    url = f"etcd://{secure}?ca={certificates}/ca.crt&server-name=etcd.test&timeout=0.2"

    with pytest.raises(Unavailable):
        await open_etcd(url)


async def test_a_user_reads_writes_and_watches_what_the_prefix_covers(
    backend: EtcdBackend,
) -> None:
    revision = await backend.create("/a", b"1")

    record = await backend.get("/a")
    async with backend.watch("/", after=revision - 1) as feed:
        batch = await anext(feed)

    assert record is not None
    assert record.revision == batch.revision == revision


async def test_a_wrong_password_is_denied(guarded: str) -> None:
    with pytest.raises(AccessDenied, match="authentication failed"):
        await open_etcd(f"etcd://user:wrong@{guarded}?prefix=/mine")


async def test_no_password_is_denied(guarded: str) -> None:
    with pytest.raises(AccessDenied, match="etcd requires a user and a password"):
        await open_etcd(f"etcd://{guarded}?prefix=/mine")


async def test_what_the_user_may_not_touch_is_denied(guarded: str) -> None:
    with pytest.raises(AccessDenied, match="permission denied"):
        await open_etcd(f"etcd://user:{ENCODED}@{guarded}?prefix=/theirs")


async def test_a_watch_the_user_may_not_have_is_denied(guarded: str) -> None:
    backend = await open_etcd(f"etcd://limited:{ENCODED}@{guarded}?prefix=/mine")

    async with backend.watch("/other/", after=0) as feed:
        with pytest.raises(AccessDenied, match="permission denied"):
            await anext(feed)

    await backend.close()


async def test_a_password_where_none_is_wanted_does_no_harm(
    tmp_path: Path,
) -> None:
    with start_etcd(tmp_path) as address:
        backend = await open_etcd(f"etcd://user:{ENCODED}@{address}")

        await backend.create("/a", b"1")

        assert await backend.get("/a") is not None
        await backend.close()


async def test_an_expired_token_is_replaced_once_for_all_who_need_it(
    guarded: str, backend: EtcdBackend
) -> None:
    revision = await backend.create("/expiring", b"1")
    stale = await backend.connection.token()
    await _expire_tokens(guarded)

    records = await asyncio.gather(*(backend.get("/expiring") for _ in range(20)))

    assert {record.revision for record in records if record} == {revision}
    assert await backend.connection.token() != stale
    await _expire_tokens(guarded)
    assert await backend.update("/expiring", b"2", revision=revision) > revision


async def test_a_watch_outlives_its_token(guarded: str) -> None:
    async with start_proxy(guarded) as proxy:
        backend = await open_etcd(f"etcd://user:{ENCODED}@{proxy.address}?prefix=/mine/watch")
        writer = await open_etcd(f"etcd://user:{ENCODED}@{guarded}?prefix=/mine/watch")
        async with backend.watch("/", after=await backend.current_revision()) as feed:
            first = await writer.create("/a", b"1")
            assert (await anext(feed)).revision == first
            await _expire_tokens(guarded)
            await proxy.cut()

            second = await writer.create("/b", b"1")

            assert (await anext(feed)).revision == second
        await backend.close()
        await writer.close()


async def _guard(address: str) -> None:
    async with _auth(address) as auth:
        for user in ("root", "user", "limited"):
            await auth.UserAdd(rpc_pb2.AuthUserAddRequest(name=user, password=PASSWORD))
            await auth.RoleAdd(rpc_pb2.AuthRoleAddRequest(name=user))
            await auth.UserGrantRole(rpc_pb2.AuthUserGrantRoleRequest(user=user, role=user))
        for user, begin, end in (("user", b"/mine", b"/minf"), ("limited", b"/mine\0", b"/mine/m")):
            permission = auth_pb2.Permission(
                permType=auth_pb2.Permission.READWRITE, key=begin, range_end=end
            )
            await auth.RoleGrantPermission(
                rpc_pb2.AuthRoleGrantPermissionRequest(name=user, perm=permission)
            )
        await auth.AuthEnable(rpc_pb2.AuthEnableRequest())


async def _expire_tokens(address: str) -> None:
    """etcd forgets the tokens of a user whose password is set, also to what it was."""
    async with _auth(address) as auth:
        credentials = rpc_pb2.AuthenticateRequest(name="root", password=PASSWORD)
        token = (await auth.Authenticate(credentials)).token
        change = rpc_pb2.AuthUserChangePasswordRequest(name="user", password=PASSWORD)
        await auth.UserChangePassword(change, metadata=(("token", token),))


@asynccontextmanager
async def _auth(address: str) -> AsyncIterator[rpc_pb2_grpc.AuthStub]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield rpc_pb2_grpc.AuthStub(channel)
