"""etcd URL: parsed and validated before connecting.

`etcd://user:password@host:port,host:port?prefix=/x&ca=…&cert=…&key=…&server-name=…&timeout=…`,
and `max-value-bytes` as for every store.
User, password and parameter values are percent-decoded. Any of the four TLS parameters enables TLS;
without `ca` the system's root certificates are trusted. Error messages never repeat the URL,
because it may contain a password.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from apiserver.storage.backends import InvalidURL
from apiserver.storage.value_limit import DEFAULT_LIMIT, PARAMETER, ValueLimit, parse_value_limit

SCHEME = "etcd://"
DEFAULT_PORT = 2379
DEFAULT_TIMEOUT = 5.0
_PARAMETERS = ("prefix", "ca", "cert", "key", "server-name", "timeout", PARAMETER)


@dataclass(frozen=True, slots=True)
class EtcdCredentials:
    """The user to authenticate as."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a TLS connection; None for files that are not given."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    server_name: str | None = None
    """The name that the servers' certificates must contain, if it is not the host name."""


@dataclass(frozen=True, slots=True)
class EtcdSettings:
    """The endpoints of an etcd cluster, and the prefix of our keys in it."""

    addresses: tuple[str, ...]
    prefix: str = ""
    credentials: EtcdCredentials | None = None
    tls: Tls | None = None
    timeout: float = DEFAULT_TIMEOUT
    """The timeout in seconds of one call to one endpoint."""
    value_limit: ValueLimit = DEFAULT_LIMIT


def parse_etcd_url(url: str) -> EtcdSettings:
    """Parse an `etcd://` URL. Raises InvalidURL."""
    if not url.startswith(SCHEME):
        raise InvalidURL(f"etcd URL: must begin with {SCHEME}")
    location, _, query = url.removeprefix(SCHEME).partition("?")
    # A password may contain an unescaped "@", a host may not.
    user_info, at, hosts = location.rpartition("@")
    parameters = _parameters(query)
    return EtcdSettings(
        addresses=tuple(_address(host) for host in hosts.rstrip("/").split(",")),
        prefix=parameters.get("prefix", ""),
        credentials=_credentials(user_info) if at else None,
        tls=_tls(parameters),
        timeout=_timeout(parameters.get("timeout")),
        value_limit=parse_value_limit(parameters.get(PARAMETER)),
    )


def _parameters(query: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for pair in query.split("&") if query else ():
        name, equals, value = pair.partition("=")
        if name not in _PARAMETERS:
            raise InvalidURL(
                f"etcd URL: unknown parameter {name!r}; the known ones are {', '.join(_PARAMETERS)}"
            )
        if name in parameters:
            raise InvalidURL(f"etcd URL: parameter {name!r} is given twice")
        if not equals or not value:
            raise InvalidURL(f"etcd URL: parameter {name!r} has no value")
        parameters[name] = _decode(value, f"parameter {name!r}")
    return parameters


def _decode(text: str, place: str) -> str:
    try:
        decoded = unquote(text, errors="strict")
        decoded.encode()
    except UnicodeError:
        raise InvalidURL(f"etcd URL: {place} is not UTF-8 when percent-decoded") from None
    return decoded


def _address(host: str) -> str:
    name, port = _split_port(host)
    if not name or any(char.isspace() or char in "/?#@%" or ord(char) < 32 for char in name):
        raise InvalidURL(f"etcd URL: {host!r} is not a host or host:port")
    # The length check keeps int() from raising for very long numbers.
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65536):
        raise InvalidURL(f"etcd URL: port {port!r} of {host!r} is not between 1 and 65535")
    return f"{name}:{port}"


def _split_port(host: str) -> tuple[str, str]:
    if host.startswith("["):
        name, bracket, rest = host.partition("]")
        if len(name) == 1 or not bracket or (rest and not rest.startswith(":")):
            return "", ""
        return name + bracket, rest[1:] if rest else str(DEFAULT_PORT)
    name, colon, port = host.partition(":")
    return name, port if colon else str(DEFAULT_PORT)


def _credentials(user_info: str) -> EtcdCredentials:
    user, _, password = user_info.partition(":")
    if not user:
        raise InvalidURL("etcd URL: the user before '@' is empty")
    return EtcdCredentials(_decode(user, "the user"), _decode(password, "the password"))


def _tls(parameters: dict[str, str]) -> Tls | None:
    if not parameters.keys() & {"ca", "cert", "key", "server-name"}:
        return None
    if ("cert" in parameters) != ("key" in parameters):
        raise InvalidURL("etcd URL: parameters 'cert' and 'key' must be given together")
    paths = {name: Path(parameters[name]) for name in ("ca", "cert", "key") if name in parameters}
    return Tls(paths.get("ca"), paths.get("cert"), paths.get("key"), parameters.get("server-name"))


def _timeout(text: str | None) -> float:
    if text is None:
        return DEFAULT_TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (0 < seconds <= 3600):
        raise InvalidURL(f"etcd URL: timeout {text!r} is not a number of seconds up to 3600")
    return seconds
