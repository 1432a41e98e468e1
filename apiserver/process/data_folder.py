"""Data folder: creates and reads the certificates, keys and kubeconfig of a server (`data_dir`).

Any number of processes may prepare a folder at the same time: they are serialized by a lock, files
are replaced atomically, and files that exist and are valid are left unchanged.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from apimachinery.certificates import (
    CertificateAuthority,
    CertificateError,
    KeyPair,
    drop_expired,
    needs_renewal,
)
from apiserver.auth.token_keys import TokenKeys, new_signing_key, read_token_keys
from apiserver.config import ServerConfig
from apiserver.process.data_dir import DataDir, DataDirError

ADMIN: Final = "admin"

_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_SERVICE_NAMES: Final = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


def prepare(config: ServerConfig, *, now: datetime) -> DataDir:
    """Create or renew the files that are missing or about to expire. Raises DataDirError.

    The kubeconfig names `config.bind`.
    """
    # Imported late: a worker reads the folder, and writes no kubeconfig.
    from apiserver.process.kubeconfig_file import make_kubeconfig

    folder = DataDir(config.data_dir)
    try:
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _exclusive_lock(folder.path / "lock"):
            authority = _ensure_authority(folder, now)
            _write_client_authorities(folder, config, now)
            if config.tls_cert_file is None:
                _ensure_serving_certificate(folder, authority, serving_names(config), now)
            if config.service_account_signing_key_file is None:
                _ensure_service_account_key(folder)
            token = _ensure_admin_token(folder)
            _write_if_changed(
                folder.admin_kubeconfig,
                make_kubeconfig(config.server_url, ADMIN, ca=server_ca_bundle(config), token=token),
            )
    except OSError as error:
        path = error.filename or folder.path
        raise DataDirError(f"data folder: {path}: {error.strerror}") from error
    return folder


def renew_serving(config: ServerConfig, *, now: datetime) -> None:
    """Renew the serving certificate if it expires soon; called by running servers."""
    folder = DataDir(config.data_dir)
    try:
        with _exclusive_lock(folder.path / "lock"):
            _ensure_serving_certificate(
                folder, _ensure_authority(folder, now), serving_names(config), now
            )
    except OSError as error:
        raise DataDirError(f"data folder: {error.filename}: {error.strerror}") from error


def issue_client(
    config: ServerConfig, user: str, groups: tuple[str, ...], *, now: datetime, lifetime: timedelta
) -> KeyPair:
    """Issue a client certificate from the authority of the data folder."""
    return load_authority(DataDir(config.data_dir)).issue_client(
        user, groups, now=now, lifetime=lifetime
    )


def server_ca_bundle(config: ServerConfig) -> bytes:
    """Return the certificates by which a client verifies this server; empty without TLS."""
    if config.insecure_http:
        return b""
    return (config.tls_cert_file or DataDir(config.data_dir).ca_certificate).read_bytes()


def serving_names(config: ServerConfig) -> tuple[str, ...]:
    """Return every name and address by which clients may call the server."""
    names = [*_LOCAL_NAMES, socket.gethostname().lower(), *_SERVICE_NAMES, *config.tls_san]
    if config.bind.reachable == config.bind:
        names.append(config.bind.host)
    return tuple(dict.fromkeys(name for name in names if name))


def load_authority(folder: DataDir) -> CertificateAuthority:
    """Load the authority of the folder. Raises DataDirError."""
    try:
        pair = KeyPair(folder.ca_certificate.read_bytes(), folder.ca_key.read_bytes())
    except OSError as error:
        raise DataDirError(
            f"{error.filename}: {error.strerror}; `apiserver serve` creates it on the first start"
        ) from error
    try:
        return CertificateAuthority.load(pair)
    except CertificateError as error:
        raise DataDirError(f"{folder.ca_certificate}, {folder.ca_key}: {error}") from error


def read_admin_token(folder: DataDir) -> str:
    """Read the admin's token. Raises DataDirError."""
    try:
        token = folder.admin_token.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataDirError(f"{folder.admin_token}: cannot be read: {error}") from error
    if not token:
        raise DataDirError(f"{folder.admin_token}: is empty; delete it to get a new one")
    return token


def token_keys(config: ServerConfig) -> TokenKeys:
    """Read the keys that sign and verify service account tokens. Raises InvalidSigningKey."""
    default = DataDir(config.data_dir).service_account_key
    return read_token_keys(
        config.service_account_signing_key_file or default, config.service_account_key_file
    )


def write_private(path: Path, data: bytes) -> None:
    """Atomically replace *path* by a file that only its owner may read."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _ensure_authority(folder: DataDir, now: datetime) -> CertificateAuthority:
    if not folder.ca_key.exists():
        if folder.ca_certificate.exists():
            raise DataDirError(
                f"{folder.ca_key}: is missing; restore it, or delete {folder.ca_certificate} to get"
                " a new authority (which invalidates all client certificates)"
            )
        authority = CertificateAuthority.create(now=now)
        # The key is written last: if it exists, the authority is complete.
        write_private(folder.ca_certificate, authority.pair.certificate)
        write_private(folder.ca_key, authority.pair.key)
        return authority
    authority = load_authority(folder)
    if authority.not_after <= now:
        raise DataDirError(
            f"{folder.ca_certificate}: expired on {authority.not_after:%Y-%m-%d}; delete it and "
            f"{folder.ca_key} to get a new authority (kubeconfigs must be created again)"
        )
    return authority


def _write_client_authorities(folder: DataDir, config: ServerConfig, now: datetime) -> None:
    bundle = folder.ca_certificate.read_bytes()
    if config.client_ca_file is not None:
        # TLS ignores the dates, and might use an expired certificate of an authority instead of the
        # one that has replaced it.
        bundle += drop_expired(config.client_ca_file.read_bytes(), now=now)
    _write_if_changed(folder.client_authorities, bundle)


def _ensure_serving_certificate(
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
    # Certificate and key are separate files, and a reader must not see a pair that does not match:
    # the certificate is removed first, and without it every process waits for the lock.
    folder.serving_certificate.unlink(missing_ok=True)
    write_private(folder.serving_key, pair.key)
    write_private(folder.serving_certificate, pair.certificate)


def _ensure_service_account_key(folder: DataDir) -> None:
    if not folder.service_account_key.exists():
        write_private(folder.service_account_key, new_signing_key())


def _ensure_admin_token(folder: DataDir) -> str:
    if not folder.admin_token.exists():
        write_private(folder.admin_token, f"{secrets.token_urlsafe(32)}\n".encode())
    return read_admin_token(folder)


def _write_if_changed(path: Path, data: bytes) -> None:
    if _read_or_empty(path) != data:
        write_private(path, data)


def _read_or_empty(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@contextmanager
def _exclusive_lock(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
