"""Writing a kubeconfig: one cluster, one user, one context, everything embedded.

The file needs no other file beside it, so it can be copied to another machine. The three can also
be put into a kubeconfig that has others already.
"""

import base64
from typing import Any, Final

from apimachinery.model.decoding import DecodeError
from apimachinery.serialization.yaml import dump_yaml, load_yaml
from apiserver.process.certificates import KeyPair

CLUSTER: Final = "apiserver"
_LISTS: Final = ("clusters", "users", "contexts")

Kubeconfig = dict[str, Any]


class InvalidKubeconfig(Exception):
    """A file that is no kubeconfig; the message says what is wrong with it."""


def make_kubeconfig(
    server: str, user: str, *, ca: bytes = b"", token: str = "", client: KeyPair | None = None
) -> bytes:
    """A kubeconfig for *user* at *server*, known by *token* or by the certificate *client*."""
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
    """The same as a value, with the names that it goes by."""
    where: Kubeconfig = {"server": server}
    if ca:
        where["certificate-authority-data"] = _base64(ca)
    credentials: Kubeconfig = {}
    if token:
        credentials["token"] = token
    if client is not None:
        credentials["client-certificate-data"] = _base64(client.certificate)
        credentials["client-key-data"] = _base64(client.key)
    both = {"cluster": cluster, "user": user}
    if namespace:
        both["namespace"] = namespace
    context = context or f"{user}@{cluster}"
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": where}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": context, "context": both}],
        "current-context": context,
    }


def added(existing: bytes, made: Kubeconfig) -> bytes:
    """The kubeconfig *existing* with what *made* has; what has the same name is replaced.

    Its user goes by the name of its context there: a `jane` of another cluster stays who she is.
    Raises InvalidKubeconfig if *existing* is none.
    """
    found = _read(existing)
    context = made["contexts"][0]
    user = {**made["users"][0], "name": context["name"]}
    context = {**context, "context": {**context["context"], "user": user["name"]}}
    for name, entry in zip(_LISTS, (made["clusters"][0], user, context), strict=True):
        others = [other for other in found.get(name) or [] if other.get("name") != entry["name"]]
        found[name] = [*others, entry]
    found["current-context"] = context["name"]
    return dump_yaml({"apiVersion": "v1", "kind": "Config", **found})


def _read(data: bytes) -> Kubeconfig:
    try:
        found, _ = load_yaml(data)
    except DecodeError as error:
        raise InvalidKubeconfig(str(error)) from None
    found = {} if found is None else found
    if not isinstance(found, dict) or found.get("kind", "Config") != "Config":
        raise InvalidKubeconfig("it is not a kubeconfig")
    for name in _LISTS:
        entries = found.get(name) or []
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise InvalidKubeconfig(f"{name}: must be a list of entries with a name")
    return found


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
