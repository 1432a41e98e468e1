"""The metadata by which default roles and bindings are known as the server's."""

from collections.abc import Iterable
from typing import Final

from apimachinery.meta.types import ObjectMeta
from apis.rbac import GROUP

AUTOUPDATE: Final = "rbac.authorization.kubernetes.io/autoupdate"
"""Annotation: unless it is "false", each start of a server adds missing rules and subjects."""
BOOTSTRAPPING: Final = {"kubernetes.io/bootstrapping": "rbac-defaults"}


def default_metadata(name: str, *, into: Iterable[str] = (), namespace: str = "") -> ObjectMeta:
    """Return the metadata of a default object; the roles *into* aggregate its rules."""
    return ObjectMeta(
        name=name,
        namespace=namespace,
        labels=BOOTSTRAPPING | {aggregation_label(role): "true" for role in into},
        annotations={AUTOUPDATE: "true"},
    )


def aggregation_label(role: str) -> str:
    """Return the label of roles whose rules *role* aggregates."""
    return f"{GROUP}/aggregate-to-{role}"
