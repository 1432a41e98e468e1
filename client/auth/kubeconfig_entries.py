"""kubeconfig entries: validate a cluster and a user, and convert them to the fields of a `Config`.

The module `kubeconfig` reads and merges files without interpreting the fields of an entry; this
one interprets them.
"""

import base64
import os
from typing import Any, Final

from client.auth.auth_info import AuthInfo
from client.auth.credentials import Impersonation
from client.auth.exec_plugin import VERSIONS, ExecConfig
from client.auth.kubeconfig import KubeconfigEntry
from client.errors import ConfigError
from client.transport.tls import TLS, ClientCertificate

EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"


def tls_settings(cluster: KubeconfigEntry) -> TLS:
    insecure = cluster.flag("insecure-skip-tls-verify")
    ca = cluster.data("certificate-authority")
    if insecure and ca:
        raise ConfigError(
            "specifying a root certificates file with the insecure flag is not allowed"
        )
    return TLS(ca=ca, insecure=insecure, server_name=cluster.text("tls-server-name"))


def auth_info(user: KubeconfigEntry, cluster: KubeconfigEntry) -> AuthInfo:
    certificate, key = user.data("client-certificate"), user.data("client-key")
    return AuthInfo(
        token=user.text("token"),
        token_file=user.path("tokenFile"),
        username=user.text("username"),
        password=user.text("password"),
        certificate=ClientCertificate(certificate, key) if certificate else None,
        exec=_exec(user, cluster),
    )


def _exec(user: KubeconfigEntry, cluster: KubeconfigEntry) -> ExecConfig | None:
    section = user.section("exec")
    if section is None:
        return None
    command = section.text("command")
    # A name without a separator is searched in $PATH; a path is resolved like all others.
    if os.sep in command:
        command = section.path("command")
    env = tuple((item.text("name"), item.text("value")) for item in _env(section))
    return ExecConfig(
        command=command,
        api_version=section.text("apiVersion"),
        args=section.texts("args"),
        env=env,
        install_hint=section.text("installHint"),
        interactive_mode=section.text("interactiveMode") or "IfAvailable",
        cluster=_cluster_info(cluster) if section.flag("provideClusterInfo") else None,
    )


def _env(section: KubeconfigEntry) -> list[KubeconfigEntry]:
    items = section.values.get("env") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ConfigError(f"{section.name}: env: must be a list of objects")
    return [KubeconfigEntry(section.name, item) for item in items]


def _cluster_info(cluster: KubeconfigEntry) -> dict[str, Any]:
    """Return the `spec.cluster` of an ExecCredential; the CA is always passed as data."""
    ca = cluster.data("certificate-authority")
    extensions = cluster.values.get("extensions") or []
    config = next(
        (
            item.get("extension")
            for item in extensions
            if isinstance(item, dict) and item.get("name") == EXEC_EXTENSION
        ),
        None,
    )
    info: dict[str, Any] = {
        "server": cluster.text("server"),
        "tls-server-name": cluster.text("tls-server-name"),
        "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify"),
        "certificate-authority-data": base64.b64encode(ca).decode(),
        "proxy-url": cluster.text("proxy-url"),
        "disable-compression": cluster.flag("disable-compression"),
    }
    return {key: value for key, value in info.items() if value} | {"config": config}


def impersonation(user: KubeconfigEntry) -> Impersonation:
    extra = user.section("as-user-extra")
    return Impersonation(
        user=user.text("as"),
        uid=user.text("as-uid"),
        groups=user.texts("as-groups"),
        extra={key: extra.texts(key) for key in extra.values} if extra else {},
    )


def validate_cluster_info(cluster: KubeconfigEntry) -> list[str]:
    """Return the problems of a cluster, in the words of kubectl."""
    problems = []
    if not cluster.text("server"):
        problems.append(f'no server found for cluster "{cluster.name}"')
    if cluster.text("certificate-authority") and cluster.text("certificate-authority-data"):
        problems.append(
            f"certificate-authority-data and certificate-authority are both specified for"
            f" {cluster.name}. certificate-authority-data will override."
        )
    return problems


def validate_auth_info(user: KubeconfigEntry) -> list[str]:
    """Return the problems of a user, in the words of kubectl."""
    name = user.name
    problems = []
    if _has_any(user, "token", "tokenFile") and _has_any(user, "username", "password"):
        problems.append(
            f"more than one authentication method found for {name}; found [token basicAuth],"
            " only one is allowed"
        )
    if user.text("client-certificate") and user.text("client-certificate-data"):
        problems.append(
            f"client-cert-data and client-cert are both specified for {name}. client-cert-data"
            " will override."
        )
    has_certificate = _has_any(user, "client-certificate", "client-certificate-data")
    if has_certificate and not _has_any(user, "client-key", "client-key-data"):
        problems.append(
            f"client-key-data or client-key must be specified for {name} to use the clientCert"
            " authentication method."
        )
    details = user.text("as-uid") or user.texts("as-groups") or user.section("as-user-extra")
    if details and not user.text("as"):
        problems.append(
            f"requesting uid, groups or user-extra for {name} without impersonating a user"
        )
    return [*problems, *_exec_problems(user)]


def _has_any(entry: KubeconfigEntry, *keys: str) -> bool:
    return any(entry.text(key) for key in keys)


def _exec_problems(user: KubeconfigEntry) -> list[str]:
    section = user.section("exec")
    provider = user.section("auth-provider")
    if section is None:
        if provider is None:
            return []
        return [f'no Auth Provider found for name "{provider.text("name")}"']
    purpose = f"for {user.name} to use exec authentication plugin"
    api_version, mode = section.text("apiVersion"), section.text("interactiveMode")
    problems = []
    if provider is not None:
        problems.append(
            f"authProvider cannot be provided in combination with an exec plugin for {user.name}"
        )
    if not section.text("command"):
        problems.append(f"command must be specified {purpose}")
    if not api_version:
        problems.append(f"apiVersion must be specified {purpose}")
    elif api_version not in VERSIONS:
        problems.append(f'exec plugin: invalid apiVersion "{api_version}"')
    if any(not item.text("name") for item in _env(section)):
        problems.append(f"env variable name must be specified {purpose}")
    if not mode and api_version == VERSIONS[0]:  # v1beta1 defaults it
        problems.append(f"interactiveMode must be specified {purpose}")
    elif mode not in ("", "Never", "IfAvailable", "Always"):
        problems.append(f'invalid interactiveMode for {user.name}: "{mode}"')
    return problems
