"""The entries of a kubeconfig as the values of a `Config`, and what is wrong with them.

Apart from reading and merging the files, because here every field has a meaning of its own.
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
    found = user.section("exec")
    if found is None:
        return None
    command = found.text("command")
    # A bare name is looked up in $PATH; anything else is a path like the others.
    if os.sep in command:
        command = found.path("command")
    env = tuple((item.text("name"), item.text("value")) for item in _env(found))
    return ExecConfig(
        command=command,
        api_version=found.text("apiVersion"),
        args=found.texts("args"),
        env=env,
        install_hint=found.text("installHint"),
        interactive_mode=found.text("interactiveMode") or "IfAvailable",
        cluster=_cluster_info(cluster) if found.flag("provideClusterInfo") else None,
    )


def _env(found: KubeconfigEntry) -> list[KubeconfigEntry]:
    items = found.values.get("env") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ConfigError(f"{found.name}: env: must be a list of objects")
    return [KubeconfigEntry(found.name, item) for item in items]


def _cluster_info(cluster: KubeconfigEntry) -> dict[str, Any]:
    """What a plugin may know of the cluster; certificates always as data."""
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
    name = user.name
    problems = []
    if _any(user, "token", "tokenFile") and _any(user, "username", "password"):
        problems.append(
            f"more than one authentication method found for {name}; found [token basicAuth],"
            " only one is allowed"
        )
    if user.text("client-certificate") and user.text("client-certificate-data"):
        problems.append(
            f"client-cert-data and client-cert are both specified for {name}. client-cert-data"
            " will override."
        )
    certified = _any(user, "client-certificate", "client-certificate-data")
    if certified and not _any(user, "client-key", "client-key-data"):
        problems.append(
            f"client-key-data or client-key must be specified for {name} to use the clientCert"
            " authentication method."
        )
    in_part = user.text("as-uid") or user.texts("as-groups") or user.section("as-user-extra")
    if in_part and not user.text("as"):
        problems.append(
            f"requesting uid, groups or user-extra for {name} without impersonating a user"
        )
    return [*problems, *_exec_problems(user)]


def _any(entry: KubeconfigEntry, *keys: str) -> bool:
    return any(entry.text(key) for key in keys)


def _exec_problems(user: KubeconfigEntry) -> list[str]:
    found = user.section("exec")
    provider = user.section("auth-provider")
    if found is None:
        if provider is None:
            return []
        return [f'no Auth Provider found for name "{provider.text("name")}"']
    what = f"for {user.name} to use exec authentication plugin"
    version_name, mode = found.text("apiVersion"), found.text("interactiveMode")
    problems = []
    if provider is not None:
        problems.append(
            f"authProvider cannot be provided in combination with an exec plugin for {user.name}"
        )
    if not found.text("command"):
        problems.append(f"command must be specified {what}")
    if not version_name:
        problems.append(f"apiVersion must be specified {what}")
    elif version_name not in VERSIONS:
        problems.append(f'exec plugin: invalid apiVersion "{version_name}"')
    if any(not item.text("name") for item in _env(found)):
        problems.append(f"env variable name must be specified {what}")
    if not mode and version_name == VERSIONS[0]:
        problems.append(f"interactiveMode must be specified {what}")
    elif mode not in ("", "Never", "IfAvailable", "Always"):
        problems.append(f'invalid interactiveMode for {user.name}: "{mode}"')
    return problems
