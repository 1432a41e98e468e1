"""DataDir: what a server keeps beside its store, and makes when it is not there.

    ca.crt ca.key             the authority that signs the certificates below
    serving.crt serving.key   what the server shows; renewed when its end is near
    admin.token               the bearer token of the admin, who may do everything
    admin.kubeconfig          for kubectl: address, authority and token in one file
    sa.key                    what signs the tokens of service accounts

Any number of processes may prepare one folder at the same time: they take turns by a lock, a file
appears whole or not at all, and what is there and good stays as it is.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from apiserver.auth.token_keys import TokenKeys, new_signing_key, read_token_keys
from apiserver.config import ServerConfig
from apiserver.process.certificates import (
    CertificateAuthority,
    CertificateError,
    KeyPair,
    needs_renewal,
    without_expired,
)
from apiserver.process.kubeconfig_file import make_kubeconfig

ADMIN: Final = "admin"

_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_SERVICE_NAMES: Final = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


class DataDirError(Exception):
    """The folder or a file in it cannot be used; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class DataDir:
    """Where everything is."""

    path: Path

    @property
    def ca_certificate(self) -> Path:
        return self.path / "ca.crt"

    @property
    def ca_key(self) -> Path:
        return self.path / "ca.key"

    @property
    def serving_certificate(self) -> Path:
        return self.path / "serving.crt"

    @property
    def serving_key(self) -> Path:
        return self.path / "serving.key"

    @property
    def admin_token(self) -> Path:
        return self.path / "admin.token"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.path / "admin.kubeconfig"

    @property
    def service_account_key(self) -> Path:
        return self.path / "sa.key"

    @property
    def client_authorities(self) -> Path:
        """Every authority whose client certificates are accepted."""
        return self.path / "client-ca.crt"


def prepare(config: ServerConfig, *, now: datetime) -> DataDir:
    """Make or renew what is missing or near its end; the kubeconfig names `config.bind`."""
    folder = DataDir(config.data_dir)
    try:
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(folder.path / "lock"):
            authority = _authority(folder, now)
            _client_authorities(folder, config, now)
            if config.tls_cert_file is None:
                _serving(folder, authority, serving_names(config), now)
            if config.service_account_signing_key_file is None:
                _service_account_key(folder)
            token = _admin_token(folder)
            _write_if_new(
                folder.admin_kubeconfig,
                make_kubeconfig(
                    config.server_url, ADMIN, ca=trusted_by_clients(config), token=token
                ),
            )
    except OSError as error:
        where = error.filename or folder.path
        raise DataDirError(f"data folder: {where}: {error.strerror}") from error
    return folder


def renew_serving(config: ServerConfig, *, now: datetime) -> None:
    """Replace the serving certificate if its end is near; running servers call this."""
    folder = DataDir(config.data_dir)
    try:
        with _locked(folder.path / "lock"):
            _serving(folder, _authority(folder, now), serving_names(config), now)
    except OSError as error:
        raise DataDirError(f"data folder: {error.filename}: {error.strerror}") from error


def issue_client(
    config: ServerConfig, user: str, groups: tuple[str, ...], *, now: datetime, lifetime: timedelta
) -> KeyPair:
    """A client certificate from the folder's authority."""
    return load_authority(DataDir(config.data_dir)).issue_client(
        user, groups, now=now, lifetime=lifetime
    )


def trusted_by_clients(config: ServerConfig) -> bytes:
    """The certificates by which a client can tell that it talks to this server."""
    if config.insecure_http:
        return b""
    return (config.tls_cert_file or DataDir(config.data_dir).ca_certificate).read_bytes()


def serving_names(config: ServerConfig) -> tuple[str, ...]:
    """Every name by which the server may be called."""
    names = [*_LOCAL_NAMES, socket.gethostname().lower(), *_SERVICE_NAMES, *config.tls_san]
    if config.bind.reachable == config.bind:
        names.append(config.bind.host)
    return tuple(dict.fromkeys(name for name in names if name))


def load_authority(folder: DataDir) -> CertificateAuthority:
    """The authority that the folder holds, or DataDirError."""
    try:
        pair = KeyPair(folder.ca_certificate.read_bytes(), folder.ca_key.read_bytes())
    except OSError as error:
        raise DataDirError(
            f"{error.filename}: {error.strerror}; `apiserver serve` makes it on the first start"
        ) from error
    try:
        return CertificateAuthority.load(pair)
    except CertificateError as error:
        raise DataDirError(f"{folder.ca_certificate}, {folder.ca_key}: {error}") from error


def read_admin_token(folder: DataDir) -> str:
    """The admin's token, or DataDirError."""
    try:
        token = folder.admin_token.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataDirError(f"{folder.admin_token}: cannot be read: {error}") from error
    if not token:
        raise DataDirError(f"{folder.admin_token}: is empty; remove it and a new one is made")
    return token


def token_keys(config: ServerConfig) -> TokenKeys:
    """What signs the tokens of service accounts, or InvalidSigningKey."""
    own = DataDir(config.data_dir).service_account_key
    return read_token_keys(
        config.service_account_signing_key_file or own, config.service_account_key_file
    )


def write_private(path: Path, data: bytes) -> None:
    """Replace *path* as a whole by a file that only its owner may read."""
    made = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _authority(folder: DataDir, now: datetime) -> CertificateAuthority:
    if not folder.ca_key.exists():
        if folder.ca_certificate.exists():
            raise DataDirError(
                f"{folder.ca_key}: is missing; bring it back, or remove {folder.ca_certificate} "
                "and a new authority is made (all client certificates end with the old one)"
            )
        made = CertificateAuthority.create(now=now)
        # The key last: where there is a key there is an authority.
        write_private(folder.ca_certificate, made.pair.certificate)
        write_private(folder.ca_key, made.pair.key)
        return made
    authority = load_authority(folder)
    if authority.not_after <= now:
        raise DataDirError(
            f"{folder.ca_certificate}: expired on {authority.not_after:%Y-%m-%d}; remove it and "
            f"{folder.ca_key}, and a new authority is made (kubeconfigs must be made again)"
        )
    return authority


def _client_authorities(folder: DataDir, config: ServerConfig, now: datetime) -> None:
    bundle = folder.ca_certificate.read_bytes()
    if config.client_ca_file is not None:
        # TLS does not look at dates, and would take a certificate that is over for the one of the
        # same authority that has replaced it.
        bundle += without_expired(config.client_ca_file.read_bytes(), now=now)
    _write_if_new(folder.client_authorities, bundle)


def _serving(
    folder: DataDir, authority: CertificateAuthority, names: tuple[str, ...], now: datetime
) -> None:
    current = _read_or_empty(folder.serving_certificate)
    complete = folder.serving_key.exists()
    if complete and not needs_renewal(current, authority, names, now=now):
        return
    try:
        pair = authority.issue_serving(names, now=now)
    except CertificateError as error:
        raise DataDirError(f"{folder.serving_certificate}: {error}") from error
    # In one file each, so a reader between the two writes could see halves that do not match: the
    # certificate goes away first, and without it everybody waits for the lock.
    folder.serving_certificate.unlink(missing_ok=True)
    write_private(folder.serving_key, pair.key)
    write_private(folder.serving_certificate, pair.certificate)


def _service_account_key(folder: DataDir) -> None:
    if not folder.service_account_key.exists():
        write_private(folder.service_account_key, new_signing_key())


def _admin_token(folder: DataDir) -> str:
    if not folder.admin_token.exists():
        write_private(folder.admin_token, f"{secrets.token_urlsafe(32)}\n".encode())
    return read_admin_token(folder)


def _write_if_new(path: Path, data: bytes) -> None:
    if _read_or_empty(path) != data:
        write_private(path, data)


def _read_or_empty(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
