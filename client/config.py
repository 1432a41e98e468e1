"""Config: the address of a server, its TLS settings and the client's credentials, as one value.

A configuration is passed to a client; nothing is global. `Config.from_env` loads it as kubectl and
controllers do: from an explicit file, `$KUBECONFIG`, the service account of the pod, or
`~/.kube/config`, in this order.
"""

import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from client.auth import kubeconfig_entries as entries
from client.auth.auth_info import AuthInfo
from client.auth.credentials import Impersonation
from client.auth.kubeconfig import Kubeconfig, invalid_configuration
from client.errors import ConfigError
from client.transport.proxy import validate_proxy
from client.transport.tls import TLS

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The directory in every pod with its token, its namespace and the CA certificate."""
DISTRIBUTION: Final = "apimachinery"
_METADATA: Final = ".dist-info"


@dataclass(frozen=True, slots=True)
class Config:
    """The address of one server, its TLS settings and the client's credentials."""

    server: str
    """`https://host:port`, optionally with a path that prefixes those of the API."""
    namespace: str = "default"
    """The namespace of clients that are created without one."""
    tls: TLS = field(default_factory=TLS)
    auth: AuthInfo = field(default_factory=AuthInfo)
    impersonate: Impersonation = field(default_factory=Impersonation)
    proxy_url: str = ""
    trust_env: bool = True
    """Whether to use the proxy of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`."""
    disable_compression: bool = False
    user_agent: str = ""
    qps: float = 0
    """Requests per second; 0 means no limit."""
    burst: int = 10
    timeout: float = 60.0
    """Seconds for one attempt of a request; for a watch, until its response starts."""
    connect_timeout: float = 10.0
    watch_idle_timeout: float = 150.0
    """Seconds without a byte after which a watch is considered dead."""
    max_retries: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "server", _normalize_server(self.server, self.tls, self.auth))
        if self.proxy_url:
            validate_proxy(self.proxy_url)

    @classmethod
    def from_env(
        cls,
        *,
        kubeconfig: str | Path = "",
        context: str = "",
        namespace: str = "",
        environ: Mapping[str, str] | None = None,
        service_account: Path = SERVICE_ACCOUNT,
    ) -> "Config":
        """Load the configuration as kubectl does; raises ConfigError if there is none."""
        variables = os.environ if environ is None else environ
        if kubeconfig:
            loaded = Kubeconfig.read(kubeconfig)
        elif paths := variables.get("KUBECONFIG"):
            loaded = Kubeconfig.read_all(filter(None, paths.split(os.pathsep)))
        elif is_in_cluster(variables, service_account):
            config = cls.in_cluster(environ=variables, service_account=service_account)
            return replace(config, namespace=namespace) if namespace else config
        else:
            loaded = Kubeconfig.read_all([_home(variables) / ".kube" / "config"])
        return cls.from_kubeconfig(loaded, context=context, namespace=namespace)

    @classmethod
    def from_kubeconfig(
        cls,
        source: Kubeconfig | str | Path,
        *,
        context: str = "",
        cluster: str = "",
        user: str = "",
        namespace: str = "",
    ) -> "Config":
        """Build the configuration of a context in a kubeconfig or in the file at a path.

        Raises ConfigError if the context is missing or its cluster or user is not valid.
        """
        loaded = source if isinstance(source, Kubeconfig) else Kubeconfig.read(source)
        context_entry, cluster_entry, user_entry = loaded.select(
            context=context, cluster=cluster, user=user
        )
        if problems := [
            *entries.validate_cluster_info(cluster_entry),
            *entries.validate_auth_info(user_entry),
        ]:
            raise invalid_configuration(problems)
        return cls(
            server=cluster_entry.text("server"),
            namespace=namespace or context_entry.text("namespace") or "default",
            tls=entries.tls_settings(cluster_entry),
            auth=entries.auth_info(user_entry, cluster_entry),
            impersonate=entries.impersonation(user_entry),
            proxy_url=cluster_entry.text("proxy-url"),
            disable_compression=cluster_entry.flag("disable-compression"),
        )

    @classmethod
    def in_cluster(
        cls,
        *,
        environ: Mapping[str, str] | None = None,
        service_account: Path = SERVICE_ACCOUNT,
    ) -> "Config":
        """Build the configuration for a program in a pod, with the pod's service account.

        Raises ConfigError if the program does not run in a pod.
        """
        variables = os.environ if environ is None else environ
        if not is_in_cluster(variables, service_account):
            raise ConfigError(
                "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and"
                " KUBERNETES_SERVICE_PORT must be defined and"
                f" {service_account / 'token'} must exist"
            )
        host = variables["KUBERNETES_SERVICE_HOST"]
        address = f"[{host}]" if ":" in host else host
        namespace, ca = service_account / "namespace", service_account / "ca.crt"
        return cls(
            server=f"https://{address}:{variables['KUBERNETES_SERVICE_PORT']}",
            namespace=(namespace.read_text().strip() if namespace.exists() else "") or "default",
            tls=TLS(ca=ca.read_bytes() if ca.exists() else b""),
            auth=AuthInfo(token_file=str(service_account / "token")),
        )


def is_in_cluster(environ: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT) -> bool:
    """Return whether this program runs in a pod with a service account token."""
    has_address = environ.get("KUBERNETES_SERVICE_HOST") and environ.get("KUBERNETES_SERVICE_PORT")
    return bool(has_address) and (service_account / "token").exists()


def default_user_agent(program: str = "") -> str:
    """Return `program/version (os/arch) apimachinery/version`.

    Servers log it, and use its first part as the default field manager.
    """
    own_version = _installed_version()
    machine = platform.machine().lower()
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine or "unknown")
    name = program or _program_name()
    return f"{name}/{own_version} ({sys.platform}/{arch}) {DISTRIBUTION}/{own_version}"


def _installed_version() -> str:
    """Return the version of this distribution.

    By the name of its folder: importlib.metadata takes longer to load than most of the client.
    """
    for place in sys.path:
        with suppress(OSError):
            for name in os.listdir(place or "."):
                if name.startswith(f"{DISTRIBUTION}-") and name.endswith(_METADATA):
                    return name.removeprefix(f"{DISTRIBUTION}-").removesuffix(_METADATA)
    return "unknown"


def _program_name() -> str:
    path = Path(sys.argv[0] if sys.argv else "")
    # `python -m package` runs package/__main__.py.
    name = path.parent.name if path.name == "__main__.py" else path.stem
    # Other characters are not valid in a User-Agent header.
    token = "".join(c for c in name if c.isascii() and (c.isalnum() or c in "-_."))
    return token if token.strip("-") else "python"


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _normalize_server(text: str, tls: TLS, auth: AuthInfo) -> str:
    """Return *text* as a URL; a bare host gets https if any TLS setting is present."""
    uses_tls = bool(tls.ca or tls.insecure or auth.certificate)
    url = text if "://" in text else f"{'https' if uses_tls else 'http'}://{text}"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigError(f'host must be a URL or a host:port pair: "{text}"')
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
