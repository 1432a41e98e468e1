"""Writing a kubeconfig: one cluster, one user, one context, everything embedded.

The file needs no other file beside it, so it can be copied to another machine.
"""

import base64
from typing import Any

from apimachinery.yaml import dump_yaml
from apiserver.certificates import KeyPair

CLUSTER = "apiserver"


def make_kubeconfig(
    server: str, user: str, *, ca: bytes = b"", token: str = "", client: KeyPair | None = None
) -> bytes:
    """A kubeconfig for *user* at *server*, known by *token* or by the certificate *client*."""
    cluster: dict[str, Any] = {"server": server}
    if ca:
        cluster["certificate-authority-data"] = _base64(ca)
    credentials: dict[str, Any] = {}
    if token:
        credentials["token"] = token
    if client is not None:
        credentials["client-certificate-data"] = _base64(client.certificate)
        credentials["client-key-data"] = _base64(client.key)
    context = f"{user}@{CLUSTER}"
    return dump_yaml(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": CLUSTER, "cluster": cluster}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": context, "context": {"cluster": CLUSTER, "user": user}}],
            "current-context": context,
        }
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
