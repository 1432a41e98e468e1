"""Config: where a server is and who is asking, as one value, and where to find it.

Nothing here is global: a configuration is made, passed to a client and belongs to it. It is found
as kubectl and controllers find it: an explicit file, `$KUBECONFIG`, the pod one runs in, and
`~/.kube/config`, in this order.
"""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
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
"""Where every pod finds its token, its namespace and whom to trust."""
DISTRIBUTION: Final = "apimachinery"


@dataclass(frozen=True, slots=True)
class Config:
    """How to reach one server."""

    server: str
    """`https://host:port`, perhaps with a path in front of the API."""
    namespace: str = "default"
    """Where namespaced objects are when nothing else is said."""
    tls: TLS = field(default_factory=TLS)
    auth: AuthInfo = field(default_factory=AuthInfo)
    impersonate: Impersonation = field(default_factory=Impersonation)
    proxy_url: str = ""
    trust_env: bool = True
    """Whether the environment may name a proxy."""
    disable_compression: bool = False
    user_agent: str = ""
    qps: float = 0
    """Requests a second, 0 for no limit."""
    burst: int = 10
    timeout: float = 60.0
    """Seconds for one attempt of anything but a watch."""
    connect_timeout: float = 10.0
    watch_idle_timeout: float = 150.0
    """Seconds without a byte after which a watch counts as dead."""
    max_retries: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "server", _server(self.server, self.tls, self.auth))
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
        """Find the configuration as kubectl does, or raise ConfigError."""
        variables = os.environ if environ is None else environ
        if kubeconfig:
            found = Kubeconfig.read(kubeconfig)
        elif listed := variables.get("KUBECONFIG"):
            found = Kubeconfig.read_all(filter(None, listed.split(os.pathsep)))
        elif is_in_cluster(variables, service_account):
            inside = cls.in_cluster(environ=variables, service_account=service_account)
            return replace(inside, namespace=namespace) if namespace else inside
        else:
            found = Kubeconfig.read_all([_home(variables) / ".kube" / "config"])
        return cls.from_kubeconfig(found, context=context, namespace=namespace)

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
        """One context of a kubeconfig, or of the file at a path."""
        found = source if isinstance(source, Kubeconfig) else Kubeconfig.read(source)
        chosen, server, person = found.choose(context=context, cluster=cluster, user=user)
        if problems := [
            *entries.validate_cluster_info(server),
            *entries.validate_auth_info(person),
        ]:
            raise invalid_configuration(problems)
        return cls(
            server=server.text("server"),
            namespace=namespace or chosen.text("namespace") or "default",
            tls=entries.tls_settings(server),
            auth=entries.auth_info(person, server),
            impersonate=entries.impersonation(person),
            proxy_url=server.text("proxy-url"),
            disable_compression=server.flag("disable-compression"),
        )

    @classmethod
    def in_cluster(
        cls,
        *,
        environ: Mapping[str, str] | None = None,
        service_account: Path = SERVICE_ACCOUNT,
    ) -> "Config":
        """The server of the cluster whose pod this program runs in."""
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
    """Whether this program runs in a pod that may talk to its cluster."""
    named = environ.get("KUBERNETES_SERVICE_HOST") and environ.get("KUBERNETES_SERVICE_PORT")
    return bool(named) and (service_account / "token").exists()


def default_user_agent(program: str = "") -> str:
    """`program/version (os/arch) apimachinery/version`; servers log it and own fields by it."""
    try:
        ours = version(DISTRIBUTION)
    except PackageNotFoundError:
        ours = "unknown"
    machine = platform.machine().lower()
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine or "unknown")
    name = program or _program()
    return f"{name}/{ours} ({sys.platform}/{arch}) {DISTRIBUTION}/{ours}"


def _program() -> str:
    path = Path(sys.argv[0] if sys.argv else "")
    name = path.parent.name if path.name == "__main__.py" else path.stem
    plain = "".join(c for c in name if c.isascii() and (c.isalnum() or c in "-_."))
    return plain if plain.strip("-") else "python"


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _server(text: str, tls: TLS, auth: AuthInfo) -> str:
    """*text* as a URL; a bare host gets the scheme its other settings call for."""
    secure = bool(tls.ca or tls.insecure or auth.certificate)
    url = text if "://" in text else f"{'https' if secure else 'http'}://{text}"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigError(f'host must be a URL or a host:port pair: "{text}"')
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
