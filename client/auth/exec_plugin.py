"""Exec credential plugins: commands that print an ExecCredential (`client.authentication.k8s.io`).

The kubeconfigs of cloud providers use them. The plugin runs when credentials are first needed,
when they expire and when the server rejects them, but never concurrently.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from apimachinery.scalars.time import InvalidTime, parse_time
from client.auth.credentials import ClientIdentity, bearer_header
from client.errors import CredentialError
from client.runtime.clock import Clock, SystemClock
from client.transport.request import Pairs
from client.transport.tls import ClientCertificate

GROUP: Final = "client.authentication.k8s.io"
VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
TIMEOUT: Final = 300.0
"""Seconds a plugin may run; some wait until the user has logged in with a browser."""


@dataclass(frozen=True, slots=True)
class ExecConfig:
    """The command to run: the `exec` section of a user in a kubeconfig."""

    command: str
    api_version: str
    args: tuple[str, ...] = ()
    env: Pairs = ()
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    cluster: Mapping[str, Any] | None = None
    """The cluster passed to the plugin; None unless `provideClusterInfo` is set."""


class ExecPlugin:
    """The credentials of a plugin, cached until they expire or the server rejects them."""

    def __init__(
        self,
        config: ExecConfig,
        *,
        certificate: ClientCertificate | None = None,
        timeout: float = TIMEOUT,
        clock: Clock | None = None,
    ) -> None:
        self._config = config
        self._certificate = certificate
        self._timeout = timeout
        self._clock = clock or SystemClock()
        self._lock = asyncio.Lock()
        self._identity: ClientIdentity | None = None
        self._expires: datetime | None = None

    async def identity(self) -> ClientIdentity:
        async with self._lock:
            if self._identity is None or self._is_expired():
                await self._refresh()
            assert self._identity is not None
            return self._identity

    async def renew(self, refused: ClientIdentity) -> ClientIdentity | None:
        async with self._lock:
            # Another request may have been rejected too and have run the plugin already.
            if self._identity is refused or self._identity is None:
                await self._refresh()
            return self._identity

    def _is_expired(self) -> bool:
        return self._expires is not None and self._clock.now() >= self._expires

    async def _refresh(self) -> None:
        output = await self._run()
        identity, self._expires = _parse_output(output, self._config)
        certificate = identity.certificate or self._certificate
        self._identity = ClientIdentity(identity.headers, certificate)

    async def _run(self) -> bytes:
        config = self._config
        interactive = _is_interactive(config.interactive_mode)
        try:
            process = await asyncio.create_subprocess_exec(
                config.command,
                *config.args,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env={
                    **os.environ,
                    **dict(config.env),
                    "KUBERNETES_EXEC_INFO": _exec_info(config, interactive),
                },
            )
        except FileNotFoundError:
            raise CredentialError(_not_found_message(config)) from None
        except OSError as error:
            raise CredentialError(f"exec: {config.command}: {error}") from None
        try:
            async with asyncio.timeout(self._timeout):
                output, _ = await process.communicate()
        except TimeoutError:
            raise CredentialError(
                f"exec: executable {config.command} did not finish within {self._timeout:g}s"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise CredentialError(
                f"exec: executable {config.command} failed with exit code {process.returncode}"
            )
        return output


def _is_interactive(mode: str) -> bool:
    available = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    if mode == "Always" and not available:
        raise CredentialError(
            "exec plugin cannot support interactive mode: standard input is not a terminal"
        )
    return mode != "Never" and available


def _exec_info(config: ExecConfig, interactive: bool) -> str:
    spec: dict[str, Any] = {"interactive": interactive}
    if config.cluster is not None:
        spec["cluster"] = dict(config.cluster)
    document = {"kind": "ExecCredential", "apiVersion": config.api_version, "spec": spec}
    return orjson.dumps(document).decode()


def _not_found_message(config: ExecConfig) -> str:
    message = f"exec: executable {config.command} not found"
    if not config.install_hint:
        return message
    return (
        f"{message}\n\nIt looks like you are trying to use a client-go credential plugin that is"
        f" not installed.\n\n{config.install_hint}"
    )


def _parse_output(output: bytes, config: ExecConfig) -> tuple[ClientIdentity, datetime | None]:
    """Return the identity and the expiry that a plugin printed; raises CredentialError."""
    try:
        document = orjson.loads(output)
    except ValueError as error:
        raise CredentialError(f"decoding stdout: {error}") from None
    if not isinstance(document, dict) or document.get("kind", "ExecCredential") != "ExecCredential":
        raise CredentialError("decoding stdout: not an ExecCredential")
    if document.get("apiVersion") != config.api_version:
        raise CredentialError(
            f"exec plugin is configured to use API version {config.api_version}, plugin returned"
            f" version {document.get('apiVersion')}"
        )
    status = document.get("status")
    if not isinstance(status, dict):
        raise CredentialError("exec plugin didn't return a status field")
    token, certificate, key = (
        _text(status, name) for name in ("token", "clientCertificateData", "clientKeyData")
    )
    if not token and not certificate and not key:
        raise CredentialError("exec plugin didn't return a token or cert/key pair")
    if bool(certificate) != bool(key):
        raise CredentialError("exec plugin returned only certificate or key, not both")
    pair = ClientCertificate(certificate.encode(), key.encode()) if certificate else None
    return ClientIdentity(bearer_header(token) if token else (), pair), _expiry(status)


def _expiry(status: Mapping[str, Any]) -> datetime | None:
    text = _text(status, "expirationTimestamp")
    try:
        return parse_time(text) if text else None
    except InvalidTime as error:
        raise CredentialError(f"exec plugin: expirationTimestamp: {error}") from None


def _text(status: Mapping[str, Any], name: str) -> str:
    value = status.get(name) or ""
    if not isinstance(value, str):
        raise CredentialError(f"exec plugin: {name}: must be a string")
    return value
