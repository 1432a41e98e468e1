"""System metadata: the metadata that the server sets and checks for every kind.

Namespace, name, uid, timestamps, resourceVersion and owner references.
"""

import re
from datetime import datetime
from itertools import islice
from random import Random
from typing import Final

from apimachinery.errors import BadRequest
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object, ObjectMeta, OwnerReference
from apimachinery.model.model import assign
from apimachinery.names import generate_name
from apiserver.context import RequestContext
from apiserver.registry.identifiers import new_uid

_DECIMAL: Final = re.compile(r"[0-9]+")
_UINT64_MAX: Final = 2**64 - 1

_DUPLICATE_OWNERS: Final = (
    ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references"
    " in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate"
    " UID(s) observed: [{uids}]"
)
_UIDS_SHOWN: Final = 100
_AFTER_ADMISSION: Final = " after mutating admission happens"


def parse_resource_version(resource_version: str) -> int:
    """Return the revision of a resourceVersion, 0 if it is empty. Raises BadRequest."""
    if not resource_version:
        return 0
    if not _DECIMAL.fullmatch(resource_version):
        problem = "invalid syntax"
    elif len(resource_version) > 20 or int(resource_version) > _UINT64_MAX:
        problem = "value out of range"
    else:
        return int(resource_version)
    raise BadRequest(f"strconv.ParseUint: parsing {quote(resource_version)}: {problem}")


def check_name(meta: ObjectMeta, name: str, namespace: str) -> None:
    """Raise BadRequest unless the namespace and name of an update are those of its URL."""
    if namespace and meta.namespace not in ("", namespace):
        raise _another_namespace()
    if not meta.name:
        raise BadRequest(
            f"the name of the object ({name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if meta.name != name:
        raise BadRequest(
            f"the name of the object ({meta.name}) does not match the name on the URL ({name})"
        )


def set_namespace(meta: ObjectMeta, namespace: str) -> None:
    """Set the namespace to that of the request, which is empty for cluster-scoped resources.

    Raises BadRequest if the object names another namespace.
    """
    if meta.namespace == namespace:
        return
    if not namespace or not meta.namespace:
        meta.namespace = namespace
    else:
        raise _another_namespace()


def _another_namespace() -> BadRequest:
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request"
    )


def fill_system_fields(meta: ObjectMeta, now: datetime, random: Random) -> None:
    """Set the uid, creation time and generated name of a new object, and reset the rest."""
    assign(
        meta,
        uid=new_uid(random),
        creation_timestamp=now,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
        self_link="",
        generation=0,
    )
    if meta.generate_name and not meta.name:
        meta.name = generate_name(meta.generate_name, random=random)


def keep_system_fields(new: ObjectMeta, old: ObjectMeta) -> None:
    """Copy server-owned metadata from the stored object.

    A uid or a deletionTimestamp that the client invented stays, and validation refuses it.
    """
    assign(
        new,
        uid=new.uid or old.uid,
        creation_timestamp=old.creation_timestamp,
        self_link="",
        generation=old.generation,
    )
    if old.deletion_timestamp is not None:
        new.deletion_timestamp = old.deletion_timestamp
        if new.deletion_grace_period_seconds is None:
            new.deletion_grace_period_seconds = old.deletion_grace_period_seconds


def drop_duplicate_owners(
    obj: Object, context: RequestContext, *, after_admission: bool = False
) -> None:
    """Remove duplicate owner references and warn the client of them."""
    references = obj.metadata.owner_references
    if len(references) < 2:
        return
    unique: dict[tuple[object, ...], OwnerReference] = {}
    duplicates: dict[str, None] = {}
    for reference in references:
        if unique.setdefault(tuple(reference.__dict__.values()), reference) is not reference:
            duplicates[reference.uid] = None
    if duplicates:
        obj.metadata.owner_references = list(unique.values())
        when = _AFTER_ADMISSION if after_admission else ""
        uids = " ".join(islice(duplicates, _UIDS_SHOWN))
        context.warn(_DUPLICATE_OWNERS.format(when=when, uids=uids))
