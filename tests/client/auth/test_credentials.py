"""Token files, exec plugins (real scripts), certificates and TLS, proxies."""

import asyncio
import datetime
import io
import ssl
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from apimachinery.scalars.time import format_time
from apis.gadgets import v1
from client import AsyncClient, Config, ConfigError, CredentialError, TransportError
from client.auth.auth_info import AuthInfo
from client.auth.credentials import ClientIdentity, TokenFileCredentials, bearer_header
from client.auth.exec_plugin import ExecConfig, ExecPlugin
from client.config import default_user_agent
from client.transport.network import NetworkTransport
from client.transport.proxy import proxy_from_environment
from client.transport.request import Request
from client.transport.tls import TLS, ClientCertificate, ssl_context
from tests.client.fakes import GADGETS, Answer, FakeClock, FakeServer, answer, gadget, serving

V1 = "client.authentication.k8s.io/v1"


async def test_a_token_file_is_read_again_after_a_minute(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "token"
    path.write_text("one\n")
    tokens = TokenFileCredentials(path, clock=clock)

    first = await tokens.identity()
    path.write_text("two")
    same = await tokens.identity()
    clock.time += 60
    second = await tokens.identity()

    assert first == same == ClientIdentity(bearer_header("one"))
    assert second == ClientIdentity(bearer_header("two"))


async def test_a_refused_token_is_read_again_at_once(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    tokens = TokenFileCredentials(path, clock=clock)
    first = await tokens.identity()

    unchanged = await tokens.renew(first)
    path.write_text("two")
    changed = await tokens.renew(first)

    assert unchanged is None
    assert changed == ClientIdentity(bearer_header("two"))


async def test_a_token_file_that_breaks_leaves_the_last_token(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    tokens = TokenFileCredentials(path, clock=clock)
    await tokens.identity()
    path.write_text(" \n")
    clock.time += 61

    assert await tokens.identity() == ClientIdentity(bearer_header("one"))
    assert "read empty token from file" in caplog.text


@pytest.mark.parametrize(("text", "message"), [(None, "failed to read"), ("", "read empty token")])
async def test_a_token_file_that_never_worked_is_an_error(
    text: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    if text is not None:
        path.write_text(text)

    with pytest.raises(CredentialError, match=message):
        await TokenFileCredentials(path).identity()


@dataclass
class Script:
    """An exec plugin: a real program that prints a file and records its calls in another."""

    folder: Path

    @property
    def config(self) -> ExecConfig:
        path = self.folder / "plugin"
        path.write_text(
            f"#!{sys.executable}\n"
            "import os, sys, pathlib\n"
            f"folder = pathlib.Path({str(self.folder)!r})\n"
            "with open(folder / 'calls', 'a') as calls:\n"
            "    print(os.environ['KUBERNETES_EXEC_INFO'], file=calls)\n"
            "sys.stdout.write((folder / 'output').read_text())\n"
            "sys.exit(int(os.environ.get('CODE', '0')))\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return ExecConfig(command=str(path), api_version=V1, interactive_mode="Never")

    def prints(self, **status: object) -> None:
        self.prints_document({"apiVersion": V1, "kind": "ExecCredential", "status": status})

    def prints_document(self, document: object) -> None:
        (self.folder / "output").write_bytes(orjson.dumps(document))

    @property
    def calls(self) -> list[dict[str, object]]:
        path = self.folder / "calls"
        return [orjson.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


async def test_a_plugin_is_run_once_and_told_what_it_is_for(script: Script) -> None:
    script.prints(token="t")
    cluster = {"server": "https://h", "config": None}
    plugin = ExecPlugin(replace(script.config, cluster=cluster))

    identities = await asyncio.gather(*(plugin.identity() for _ in range(5)))

    assert identities == [ClientIdentity(bearer_header("t"))] * 5
    assert script.calls == [
        {
            "kind": "ExecCredential",
            "apiVersion": V1,
            "spec": {"interactive": False, "cluster": cluster},
        }
    ]


async def test_a_plugin_is_run_again_when_its_credentials_run_out(
    script: Script, clock: FakeClock
) -> None:
    plugin = ExecPlugin(script.config, clock=clock)
    script.prints(token="one", expirationTimestamp=format_time(clock.now() + timedelta(hours=1)))
    first = await plugin.identity()
    script.prints(token="two")
    same = await plugin.identity()
    clock.time += 3600
    second = await plugin.identity()

    assert first == same == ClientIdentity(bearer_header("one"))
    assert second == ClientIdentity(bearer_header("two"))
    assert len(script.calls) == 2


async def test_refused_credentials_make_a_plugin_run_again_once(script: Script) -> None:
    """Concurrent requests that are rejected share one run of the plugin."""
    plugin = ExecPlugin(script.config)
    script.prints(token="one")
    first = await plugin.identity()
    script.prints(token="two")

    identities = await asyncio.gather(*(plugin.renew(first) for _ in range(3)))

    assert identities == [ClientIdentity(bearer_header("two"))] * 3
    assert len(script.calls) == 2


async def test_a_plugin_may_give_a_certificate(script: Script) -> None:
    script.prints(clientCertificateData="CERT", clientKeyData="KEY")

    identity = await ExecPlugin(script.config).identity()

    assert identity == ClientIdentity((), ClientCertificate(b"CERT", b"KEY"))


async def test_a_plugin_speaks_the_version_it_is_configured_with(script: Script) -> None:
    beta = "client.authentication.k8s.io/v1beta1"
    script.prints_document({"apiVersion": beta, "status": {"token": "t"}})

    identity = await ExecPlugin(replace(script.config, api_version=beta)).identity()

    assert identity == ClientIdentity(bearer_header("t"))
    with pytest.raises(CredentialError, match=r"configured to use API version .*/v1, plugin"):
        await ExecPlugin(script.config).identity()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"apiVersion": V1}, "exec plugin didn't return a status field"),
        ({"apiVersion": V1, "status": {}}, "exec plugin didn't return a token or cert/key pair"),
        (
            {"apiVersion": V1, "status": {"clientKeyData": "k"}},
            "exec plugin returned only certificate or key, not both",
        ),
        ({"apiVersion": V1, "kind": "Pod"}, "not an ExecCredential"),
        ([], "not an ExecCredential"),
        ({"apiVersion": V1, "status": {"token": 5}}, "token: must be a string"),
        (
            {"apiVersion": V1, "status": {"token": "t", "expirationTimestamp": "soon"}},
            "expirationTimestamp",
        ),
    ],
)
async def test_a_plugin_that_says_something_else_is_an_error(
    document: object, message: str, script: Script
) -> None:
    script.prints_document(document)

    with pytest.raises(CredentialError, match=message):
        await ExecPlugin(script.config).identity()


async def test_a_plugin_that_fails_is_an_error(script: Script) -> None:
    script.prints(token="t")

    with pytest.raises(CredentialError, match="failed with exit code 3"):
        await ExecPlugin(replace(script.config, env=(("CODE", "3"),))).identity()


async def test_a_plugin_that_is_not_installed_says_how_to_install_it() -> None:
    config = ExecConfig("/does/not/exist", V1, install_hint="run: brew install it")

    with pytest.raises(CredentialError, match=r"not found(.|\n)*brew install it"):
        await ExecPlugin(config).identity()


async def test_a_plugin_that_needs_a_terminal_is_not_run_without_one(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    with pytest.raises(CredentialError, match="standard input is not a terminal"):
        await ExecPlugin(replace(script.config, interactive_mode="Always")).identity()


@pytest.mark.parametrize(
    ("mode", "terminal", "interactive"),
    [
        ("Never", True, False),
        ("IfAvailable", True, True),
        ("IfAvailable", False, False),
        ("Always", True, True),
    ],
)
async def test_a_plugin_is_told_whether_it_may_ask(
    mode: str, terminal: bool, interactive: bool, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Input(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    monkeypatch.setattr(sys, "stdin", Input())
    script.prints(token="t")

    await ExecPlugin(replace(script.config, interactive_mode=mode)).identity()

    assert script.calls[0]["spec"] == {"interactive": interactive}


async def test_a_plugin_that_hangs_is_ended() -> None:
    config = ExecConfig("sleep", V1, args=("60",), interactive_mode="Never")

    with pytest.raises(CredentialError, match=r"did not finish within 0\.05s"):
        await ExecPlugin(config, timeout=0.05).identity()


async def test_a_plugin_is_not_run_when_there_is_a_token() -> None:
    auth = AuthInfo(token="t", exec=ExecConfig("/does/not/exist", V1))

    assert await auth.credentials().identity() == ClientIdentity(bearer_header("t"))


@dataclass
class Authority:
    """A certificate authority in memory, which signs certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def create(cls) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        return cls(key, _certificate("ca", key, key, "ca", ca=True))

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str, *, dns: str = "") -> ClientCertificate:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _certificate(name, key, self.key, "ca", dns=dns)
        return ClientCertificate(
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    issuer: str,
    *,
    dns: str = "",
    ca: bool = False,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if dns:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([x509.DNSName(dns)]), critical=False
        )
    return builder.sign(signer, hashes.SHA256())


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create()


@pytest.fixture
async def secure(
    authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FakeServer]:
    """A server named gadgets.test that requires client certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_verify_locations(cadata=authority.pem.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    pair = authority.issue("server", dns="gadgets.test")
    path = tmp_path_factory.mktemp("server") / "server.pem"
    path.write_bytes(pair.certificate + pair.key)
    context.load_cert_chain(path)
    async with serving(context) as server:
        server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
        yield server


async def fetch(config: Config) -> v1.Gadget:
    async with AsyncClient(config) as client:
        gadgets = client.of(v1.Gadget, resource="gadgets", api_version="gadgets.example.io/v1")
        return await gadgets.get("a")


async def test_a_client_certificate_from_memory_says_who_one_is(
    secure: FakeServer, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    config = Config(
        secure.url,
        tls=TLS(ca=authority.pem, server_name="gadgets.test"),
        auth=AuthInfo(certificate=authority.issue("alice")),
        trust_env=False,
    )

    await fetch(config)

    assert secure.requests[-1].peer == "alice"
    assert list(tmp_path.iterdir()) == []


async def test_a_plugins_certificate_is_used_for_the_connection(
    secure: FakeServer, authority: Authority, script: Script
) -> None:
    pair = authority.issue("bob")
    script.prints(clientCertificateData=pair.certificate.decode(), clientKeyData=pair.key.decode())
    config = Config(
        secure.url,
        tls=TLS(ca=authority.pem, server_name="gadgets.test"),
        auth=AuthInfo(exec=script.config),
        trust_env=False,
    )

    await fetch(config)

    assert secure.requests[-1].peer == "bob"


@pytest.mark.parametrize("server_name", ["", "other.test"])
async def test_a_server_of_another_name_is_not_trusted(
    server_name: str, secure: FakeServer, authority: Authority
) -> None:
    tls = TLS(ca=authority.pem, server_name=server_name)

    with pytest.raises(TransportError, match="certificate verify failed"):
        await fetch(Config(secure.url, tls=tls, trust_env=False))


async def test_a_stream_that_is_let_go_of_leaves_no_connection_behind(
    secure: FakeServer, authority: Authority
) -> None:
    """A graceful TLS shutdown would outlast a program that exits right after it."""
    secure.on("GET", "/a", Answer(chunks=[b"x"], hold=asyncio.Event()))
    tls = TLS(ca=authority.pem, server_name="gadgets.test")
    transport = NetworkTransport(Config(secure.url, tls=tls, trust_env=False))
    response: Any = await transport.open(Request("watch", "GET", "/a"))
    await response.chunk()
    connection = response.connection.transport.get_extra_info("socket")

    response.close()
    await transport.aclose()

    assert connection.fileno() == -1


async def test_an_unknown_authority_is_not_trusted(secure: FakeServer) -> None:
    tls = TLS(ca=Authority.create().pem, server_name="gadgets.test")

    with pytest.raises(TransportError, match="certificate verify failed"):
        await fetch(Config(secure.url, tls=tls, trust_env=False))


async def test_authorities_of_the_system_may_be_named_by_the_environment(
    secure: FakeServer, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "authorities.pem"
    path.write_bytes(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))

    fetched = await fetch(Config(secure.url, tls=TLS(server_name="gadgets.test")))

    assert fetched.metadata.name == "a"


async def test_anybody_is_trusted_when_that_is_asked_for(secure: FakeServer) -> None:
    await fetch(Config(secure.url, tls=TLS(insecure=True), trust_env=False))


@pytest.mark.parametrize(
    ("tls", "certificate", "message"),
    [
        (TLS(ca=b"nonsense"), None, "unable to load root certificates"),
        (TLS(), ClientCertificate(b"nonsense", b""), "unable to load key pair"),
    ],
)
def test_certificates_that_are_none_are_a_config_error(
    tls: TLS, certificate: ClientCertificate | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        ssl_context(tls, certificate)


def test_an_encrypted_key_is_refused_instead_of_asked_for(authority: Authority) -> None:
    pair = authority.issue("x")
    key = serialization.load_pem_private_key(pair.key, None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )

    with pytest.raises(ConfigError, match="the private key is encrypted"):
        ssl_context(TLS(), ClientCertificate(pair.certificate, locked))


async def test_a_proxy_is_asked_for_the_server(server: FakeServer) -> None:
    """The request line of an HTTP request to a proxy has the absolute URL."""
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    config = Config("http://gadgets.invalid", proxy_url=server.url)

    await fetch(config)

    assert server.requests[-1].header("host") == "gadgets.invalid"


@pytest.mark.parametrize(
    ("server", "environ", "proxy"),
    [
        ("https://h", {"HTTPS_PROXY": "http://p"}, "http://p"),
        ("https://h", {"https_proxy": "p:80"}, "http://p:80"),
        ("http://h", {"HTTPS_PROXY": "http://p"}, ""),
        ("http://h", {"HTTP_PROXY": "http://p"}, "http://p"),
        ("http://h", {"HTTP_PROXY": "http://p", "REQUEST_METHOD": "GET"}, ""),
        ("https://localhost:6443", {"HTTPS_PROXY": "http://p"}, ""),
        ("https://127.0.0.1", {"HTTPS_PROXY": "http://p"}, ""),
        ("https://[::1]", {"HTTPS_PROXY": "http://p"}, ""),
        ("https://h", {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, ""),
        ("https://a.h.io", {"HTTPS_PROXY": "http://p", "NO_PROXY": "x, h.io"}, ""),
        ("https://h.io", {"HTTPS_PROXY": "http://p", "NO_PROXY": ".h.io"}, "http://p"),
        ("https://a.h.io", {"HTTPS_PROXY": "http://p", "NO_PROXY": "*.h.io"}, ""),
        ("https://ah.io", {"HTTPS_PROXY": "http://p", "NO_PROXY": "h.io"}, "http://p"),
        ("https://10.1.2.3", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8"}, ""),
        ("https://11.1.2.3", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8"}, "http://p"),
        ("https://10.1.2.3", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.1.2.3"}, ""),
        ("https://[fd00::1]", {"HTTPS_PROXY": "http://p", "NO_PROXY": "[fd00::1]:443"}, ""),
        ("https://h.io", {"HTTPS_PROXY": "http://p", "NO_PROXY": "h.io:443"}, ""),
        ("https://h.io", {"HTTPS_PROXY": "http://p", "NO_PROXY": "h.io:8443"}, "http://p"),
    ],
)
def test_the_environment_is_read_as_other_clients_read_it(
    server: str, environ: dict[str, str], proxy: str
) -> None:
    assert proxy_from_environment(server, environ) == proxy


async def test_the_environment_names_the_proxy_unless_it_may_not(server: FakeServer) -> None:
    server.on("GET", "/a", answer({}))
    request, environ = Request("get", "GET", "/a"), {"HTTP_PROXY": server.url}
    trusting = NetworkTransport(Config("http://gadgets.invalid"), environ=environ)
    other = NetworkTransport(Config("http://gadgets.invalid", trust_env=False), environ=environ)

    await (await trusting.open(request)).read()
    with pytest.raises(TransportError, match=r"gadgets\.invalid"):
        await other.open(request)

    assert [request.header("host") for request in server.requests] == ["gadgets.invalid"]
    await trusting.aclose()
    await other.aclose()


async def test_every_request_says_who_and_what_is_asking(
    server: FakeServer,
) -> None:
    server.on("GET", f"{GADGETS}/a", answer(gadget("a")))
    config = Config(server.url, auth=AuthInfo(username="u", password="p"), trust_env=False)

    await fetch(config)

    sent = server.requests[-1]
    assert sent.header("authorization") == "Basic dTpw"
    assert sent.header("accept-encoding") == "gzip"
    assert sent.header("user-agent") == default_user_agent()


def test_the_user_agent_names_program_platform_and_library() -> None:
    agent = default_user_agent("prog")

    program, platform, library = agent.split(" ")
    assert program.startswith("prog/")
    assert platform.startswith(f"({sys.platform}/")
    assert library.startswith("apimachinery/")
