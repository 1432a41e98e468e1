"""ServerConfig: every setting of the server in one frozen value.

A setting is a field of ServerConfig and an entry of SETTINGS. Its flag, its environment variable,
its key in the file, its help and its validation are derived from these two. Flags take precedence
over the environment, and the environment over the file. All errors are reported together, each
under the name by which the setting was given.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

import marshmallow

from apiserver.config_fields import (
    AddressField,
    Boolean,
    Choice,
    ExistingFile,
    ExistingFileList,
    FieldPathList,
    FolderPath,
    Integer,
    NameList,
    NonEmptyString,
    PortRangeField,
    ServiceRangeList,
    StringList,
)
from apiserver.process.address import Address

ENVIRONMENT_PREFIX: Final = "APISERVER_"
CONFIG_VARIABLE: Final = "APISERVER_CONFIG"
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LOG_FORMATS: Final = ("text", "json")
AUTHORIZATION_MODES: Final = ("RBAC", "AlwaysAllow")
STORE: Final = "store.sqlite"
DEFAULT_BIND: Final = Address("127.0.0.1", 6443)
DEFAULT_ISSUER: Final = "https://kubernetes.default.svc.cluster.local"


class ServerConfigError(Exception):
    """The configuration is invalid; the message has one line per error."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """The settings of one server; SETTINGS documents each of them."""

    groups: tuple[str, ...] = ()
    bind: Address = DEFAULT_BIND
    storage: str = ""
    data_dir: Path = Path(".apiserver")
    workers: int = 1
    insecure_http: bool = False
    anonymous_auth: bool = True
    authorization_mode: str = "RBAC"
    token_auth_file: Path | None = None
    client_ca_file: Path | None = None
    tls_cert_file: Path | None = None
    tls_private_key_file: Path | None = None
    tls_san: tuple[str, ...] = ()
    service_account_issuer: tuple[str, ...] = (DEFAULT_ISSUER,)
    service_account_signing_key_file: Path | None = None
    service_account_key_file: tuple[Path, ...] = ()
    api_audiences: tuple[str, ...] = ()
    enable_admission_plugins: tuple[str, ...] = ()
    disable_admission_plugins: tuple[str, ...] = ()
    admission_control_config_file: Path | None = None
    accept_field_loss: tuple[str, ...] = ()
    enable_priority_and_fairness: bool = True
    service_cluster_ip_range: tuple[str, ...] = ("10.0.0.0/24",)
    service_node_port_range: str = "30000-32767"
    advertise_address: str | None = None
    max_requests_inflight: int = 400
    max_mutating_requests_inflight: int = 200
    shutdown_timeout: int = 30
    log_format: str = "text"
    log_level: str = "info"

    @property
    def storage_url(self) -> str:
        """The URL of the store; do not log it, because it may contain a password."""
        return self.storage or f"sqlite:///{quote(str(self.data_dir.absolute() / STORE))}"

    @property
    def allows_anonymous(self) -> bool:
        """Whether anonymous requests are accepted; AlwaysAllow would authorize all of them."""
        return self.anonymous_auth and self.authorization_mode != "AlwaysAllow"

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences of the server: a token must be valid for one of them."""
        return self.api_audiences or self.service_account_issuer

    @property
    def worker_seats(self) -> int:
        """The seats of one worker: its share of the server's, rounded up."""
        total = self.max_requests_inflight + self.max_mutating_requests_inflight
        return -(-total // self.workers)

    @property
    def scheme(self) -> str:
        return "http" if self.insecure_http else "https"

    @property
    def server_url(self) -> str:
        """The URL of the server for a client on this machine."""
        return f"{self.scheme}://{self.bind.reachable}"


@dataclass(frozen=True, slots=True)
class Setting:
    """The name, validation and help of one field of ServerConfig."""

    name: str
    rule: marshmallow.fields.Field[Any]
    metavar: str
    help: str

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return ENVIRONMENT_PREFIX + self.name.upper()

    @property
    def is_switch(self) -> bool:
        return isinstance(self.rule, Boolean)

    @property
    def is_list(self) -> bool:
        return isinstance(self.rule, StringList | ExistingFileList)


SETTINGS: Final = (
    Setting(
        "groups",
        StringList(),
        "MODULE:GROUP",
        "an API group to serve, as its module and the name of the Group, or tuple of groups, in it",
    ),
    Setting(
        "bind",
        AddressField(),
        "HOST:PORT",
        "the address to listen on (default 127.0.0.1:6443; port 0 selects a free one)",
    ),
    Setting(
        "storage",
        NonEmptyString(),
        "URL",
        "the URL of the store, such as sqlite:///file or etcd://host:2379,host:2379 "
        "(default: an SQLite file in the data folder)",
    ),
    Setting(
        "data_dir",
        FolderPath(),
        "DIR",
        "the folder of the CA, the certificates, the admin's kubeconfig and the SQLite file; "
        "created on the first start (default .apiserver)",
    ),
    Setting("workers", Integer(1, 1024), "N", "the number of worker processes (default 1)"),
    Setting(
        "insecure_http",
        Boolean(),
        "",
        "serve plain HTTP instead of HTTPS; only on a loopback address",
    ),
    Setting(
        "anonymous_auth",
        Boolean(),
        "",
        "allow anonymous requests to /healthz, /livez, /readyz and /version (default); "
        "--no-anonymous-auth answers them with 401",
    ),
    Setting(
        "authorization_mode",
        Choice(AUTHORIZATION_MODES),
        "MODE",
        "RBAC authorizes requests by roles (default); AlwaysAllow authorizes every "
        "authenticated request, and disables --anonymous-auth",
    ),
    Setting(
        "token_auth_file",
        ExistingFile(),
        "FILE",
        'bearer tokens, one line each: token,user,uid,"group1,group2"; reloaded when '
        "the file changes",
    ),
    Setting(
        "client_ca_file",
        ExistingFile(),
        "FILE",
        "PEM certificates of CAs whose client certificates are accepted, in addition to the "
        "server's own CA",
    ),
    Setting(
        "tls_cert_file",
        ExistingFile(),
        "FILE",
        "the PEM serving certificate, followed by its chain (default: generated)",
    ),
    Setting(
        "tls_private_key_file", ExistingFile(), "FILE", "the PEM private key of --tls-cert-file"
    ),
    Setting(
        "tls_san",
        StringList(),
        "NAME",
        "an additional host name or IP address for the generated certificate",
    ),
    Setting(
        "service_account_issuer",
        StringList(),
        "NAME",
        "the issuer of service account tokens; if repeated, the first one is used for new tokens "
        f"and all are accepted (default {DEFAULT_ISSUER})",
    ),
    Setting(
        "service_account_signing_key_file",
        ExistingFile(),
        "FILE",
        "the PEM private key that signs service account tokens, RSA or elliptic curve; "
        "servers on several machines need the same one (default: generated)",
    ),
    Setting(
        "service_account_key_file",
        ExistingFileList(),
        "FILE",
        "additional PEM keys that verify service account tokens, for rotating the signing key",
    ),
    Setting(
        "api_audiences",
        StringList(),
        "NAME",
        "an audience of the server; tokens must be valid for one of them (default: the issuers)",
    ),
    Setting(
        "enable_admission_plugins",
        NameList(),
        "NAME,...",
        "admission plugins to run beside those that run by default",
    ),
    Setting(
        "disable_admission_plugins",
        NameList(),
        "NAME,...",
        "admission plugins not to run although they run by default",
    ),
    Setting(
        "admission_control_config_file",
        ExistingFile(),
        "FILE",
        "an AdmissionConfiguration with the configurations of admission plugins",
    ),
    Setting(
        "accept_field_loss",
        FieldPathList(),
        "RESOURCE.GROUP/FIELD",
        "a field of stored objects whose values may be lost, although no upgrade declares it",
    ),
    Setting(
        "enable_priority_and_fairness",
        Boolean(),
        "",
        "queue requests by priority level and flow (default); --no-enable-priority-and-fairness "
        "rejects what exceeds the limits of reads and of writes",
    ),
    Setting(
        "service_cluster_ip_range",
        ServiceRangeList(),
        "CIDR",
        "the IP range that cluster IPs of services are allocated from, or one of each IP family "
        "(default 10.0.0.0/24)",
    ),
    Setting(
        "service_node_port_range",
        PortRangeField(),
        "FIRST-LAST",
        "the ports that node ports of services are allocated from (default 30000-32767)",
    ),
    Setting(
        "advertise_address",
        NonEmptyString(),
        "IP",
        "the IP address in the endpoints of the service `kubernetes`, at which other machines "
        "reach this server (default: that of the host's default route)",
    ),
    Setting(
        "max_requests_inflight",
        Integer(1, 1_000_000),
        "N",
        "the number of read requests executed at the same time; together with the next one the "
        "number of seats that priority levels share (default 400)",
    ),
    Setting(
        "max_mutating_requests_inflight",
        Integer(1, 1_000_000),
        "N",
        "the number of write requests executed at the same time (default 200)",
    ),
    Setting(
        "shutdown_timeout",
        Integer(1, 3600),
        "SECONDS",
        "how long a stop or a reload waits for requests in flight (default 30)",
    ),
    Setting(
        "log_format", Choice(LOG_FORMATS), "FORMAT", "the log format, text or json (default text)"
    ),
    Setting(
        "log_level",
        Choice(LOG_LEVELS),
        "LEVEL",
        f"the log level, {', '.join(LOG_LEVELS)} (default info; debug logs every request)",
    ),
)


def load_config(environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> ServerConfig:
    """Load the configuration of a process. Raises ServerConfigError.

    *flags* maps setting names to values, without the flags that were not given.
    """
    flag_values = dict(flags or {})
    file = flag_values.pop("config", None) or environ.get(CONFIG_VARIABLE)
    problems: list[str] = []
    values: dict[str, Any] = {}
    if file:
        names = {s.name: f"{file}: {s.name}" for s in SETTINGS}
        values |= _validate(_file_values(Path(file), problems), names, problems)
    names = {s.name: s.variable for s in SETTINGS}
    values |= _validate(_environment_values(environ, problems), names, problems)
    values |= _validate(flag_values, {s.name: s.flag for s in SETTINGS}, problems)
    if problems:
        raise ServerConfigError(*problems)
    config = ServerConfig(**values)
    if conflicts := tuple(_conflicts(config)):
        raise ServerConfigError(*conflicts)
    return config


def _validate(
    values: Mapping[str, Any], names: Mapping[str, str], problems: list[str]
) -> dict[str, Any]:
    """Return the valid values; add an error to *problems* for each invalid one.

    *names* are the names of the settings in the source of the values.
    """
    schema = marshmallow.Schema.from_dict({s.name: s.rule for s in SETTINGS})()
    try:
        loaded: dict[str, Any] = schema.load(values)
    except marshmallow.ValidationError as error:
        messages = cast(dict[str, list[str]], error.messages)
        for name, rules in messages.items():
            problems.extend(f"{names[name]}: {values[name]!r}: {rule}" for rule in rules)
        loaded = dict(error.valid_data) if isinstance(error.valid_data, dict) else {}
    return loaded


def _file_values(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        document = _read(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        problems.append(f"{path}: cannot be read: {reason}")
        return {}
    if not isinstance(document, dict):
        problems.append(f"{path}: must be a mapping of setting names to values")
        return {}
    values = {str(key).replace("-", "_"): value for key, value in document.items()}
    unknown = sorted(values.keys() - {s.name for s in SETTINGS})
    problems.extend(
        f"{path}: {name}: unknown setting; the settings are {', '.join(s.name for s in SETTINGS)}"
        for name in unknown
    )
    return {name: value for name, value in values.items() if name not in unknown}


def _read(path: Path) -> Any:
    data = path.read_bytes()
    if path.suffix == ".toml":
        return tomllib.loads(data.decode("utf-8"))
    # Imported late: a master whose settings are flags needs no decoders.
    from apimachinery.model.decoding import DecodeError
    from apimachinery.serialization.yaml import load_yaml

    try:
        document, duplicates = load_yaml(data)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    if duplicates:
        raise ValueError(f"yaml: {duplicates[0]} is given twice")
    return {} if document is None else document


def _environment_values(environ: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    variables = {s.variable: s.name for s in SETTINGS}
    # Shells and compose files leave a variable out by setting it to the empty string.
    assigned = {
        name: value
        for name, value in environ.items()
        if name.startswith(ENVIRONMENT_PREFIX) and name != CONFIG_VARIABLE and value
    }
    # Kubernetes sets such variables in every container for a Service named "apiserver".
    services = (f"{ENVIRONMENT_PREFIX}SERVICE_", f"{ENVIRONMENT_PREFIX}PORT")
    problems.extend(
        f"{name}: unknown setting; the settings are {', '.join(variables)}"
        for name in sorted(assigned.keys() - variables.keys())
        if not name.startswith(services)
    )
    return {variables[name]: value for name, value in assigned.items() if name in variables}


def _conflicts(config: ServerConfig) -> Iterator[str]:
    if (config.tls_cert_file is None) != (config.tls_private_key_file is None):
        yield "--tls-cert-file and --tls-private-key-file: give both or neither"
    for issuer in config.service_account_issuer:
        if ":" in issuer and not _is_url(issuer):
            yield f"--service-account-issuer: {issuer!r}: contains a colon but is not a valid URL"
    if not config.insecure_http:
        return
    if not config.bind.is_loopback:
        yield (
            f"--insecure-http: --bind {config.bind} is reachable from other machines, which "
            "would expose tokens in clear text; bind 127.0.0.1 or omit --insecure-http"
        )
    if config.tls_cert_file or config.client_ca_file:
        yield "--insecure-http: --tls-cert-file and --client-ca-file require TLS"


def _is_url(text: str) -> bool:
    try:
        return bool(urlsplit(text).scheme)
    except ValueError:
        return False
