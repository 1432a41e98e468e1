"""Kubeconfig files: write one, or merge a cluster, user and context into an existing one.

Certificates and keys are embedded, so the file can be copied to another machine.
"""

import base64
from typing import Any, Final

from apimachinery.certificates import KeyPair
from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.yaml import load_yaml
from apimachinery.serialization.yaml_writer import dump_yaml

CLUSTER: Final = "apiserver"
_LISTS: Final = ("clusters", "users", "contexts")

Kubeconfig = dict[str, Any]


class InvalidKubeconfig(Exception):
    """The file is not a kubeconfig; the message gives the reason."""


def make_kubeconfig(
    server: str, user: str, *, ca: bytes = b"", token: str = "", client: KeyPair | None = None
) -> bytes:
    """Write a kubeconfig for *user* at *server*, with a *token* or the certificate *client*."""
    return dump_yaml(kubeconfig(server, user, ca=ca, token=token, client=client))


def kubeconfig(
    server: str,
    user: str,
    *,
    ca: bytes = b"",
    token: str = "",
    client: KeyPair | None = None,
    cluster: str = CLUSTER,
    context: str = "",
    namespace: str = "",
) -> Kubeconfig:
    """Build a kubeconfig with the given cluster and context names."""
    cluster_entry: Kubeconfig = {"server": server}
    if ca:
        cluster_entry["certificate-authority-data"] = _base64(ca)
    credentials: Kubeconfig = {}
    if token:
        credentials["token"] = token
    if client is not None:
        credentials["client-certificate-data"] = _base64(client.certificate)
        credentials["client-key-data"] = _base64(client.key)
    context_entry = {"cluster": cluster, "user": user}
    if namespace:
        context_entry["namespace"] = namespace
    context = context or f"{user}@{cluster}"
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": cluster_entry}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": context, "context": context_entry}],
        "current-context": context,
    }


def merge_kubeconfig(existing: bytes, new: Kubeconfig) -> bytes:
    """Merge *new* into the kubeconfig *existing*, replacing entries of the same name.

    The merged user is named after its context, so that a user `jane` of another cluster is kept.

    Raises InvalidKubeconfig if *existing* is not a kubeconfig.
    """
    merged = _parse(existing)
    context = new["contexts"][0]
    user = {**new["users"][0], "name": context["name"]}
    context = {**context, "context": {**context["context"], "user": user["name"]}}
    for name, entry in zip(_LISTS, (new["clusters"][0], user, context), strict=True):
        others = [other for other in merged.get(name) or [] if other.get("name") != entry["name"]]
        merged[name] = [*others, entry]
    merged["current-context"] = context["name"]
    return dump_yaml({"apiVersion": "v1", "kind": "Config", **merged})


def _parse(data: bytes) -> Kubeconfig:
    try:
        config, _ = load_yaml(data)
    except DecodeError as error:
        raise InvalidKubeconfig(str(error)) from None
    config = {} if config is None else config
    if not isinstance(config, dict) or config.get("kind", "Config") != "Config":
        raise InvalidKubeconfig("not a kubeconfig")
    for name in _LISTS:
        entries = config.get(name) or []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise InvalidKubeconfig(f"{name}: must be a list of entries with a name")
    return config


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
