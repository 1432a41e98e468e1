"""System metadata: what the server alone decides of an object, whatever a client sends.

These are the parts of a write that are the same for every kind: where the object is, what it is
called, who it is, and which of its states this one is.
"""

import re
from datetime import datetime
from random import Random
from typing import Final

from apimachinery.errors import BadRequest
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.names import generate_name
from apiserver.context import RequestContext
from apiserver.registry.identifiers import new_uid

_DECIMAL: Final = re.compile(r"[0-9]+")
_UINT64_MAX: Final = 2**64 - 1

_TWICE: Final = (
    ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references"
    " in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate"
    " UID(s) observed: [{uids}]"
)
_AFTER_ADMISSION: Final = " after mutating admission happens"


def parse_version(resource_version: str) -> int:
    """The revision that a resourceVersion means, 0 if it is empty, or BadRequest."""
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
    """Raise BadRequest unless an object that replaces another is called as the URL says."""
    if not meta.name:
        raise BadRequest(
            f"the name of the object ({name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if meta.name != name:
        raise BadRequest(
            f"the name of the object ({meta.name}) does not match the name on the URL ({name})"
        )
    if namespace and meta.namespace and meta.namespace != namespace:
        raise BadRequest(
            f"the namespace of the object ({meta.namespace}) does not match the namespace on the"
            f" request ({namespace})"
        )


def settle_namespace(meta: ObjectMeta, namespace: str) -> None:
    """Put the object into the namespace of the request; empty means that there is none."""
    if not namespace or not meta.namespace:
        meta.namespace = namespace
    elif meta.namespace != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def fill_new(meta: ObjectMeta, now: datetime, random: Random) -> None:
    """Give a new object what every object has, and take from it what it cannot have yet."""
    meta.uid = new_uid(random)
    meta.creation_timestamp = now
    meta.deletion_timestamp = None
    meta.deletion_grace_period_seconds = None
    meta.self_link = ""
    meta.generation = 0
    if meta.generate_name and not meta.name:
        meta.name = generate_name(meta.generate_name, random=random)


def carry_over(new: ObjectMeta, old: ObjectMeta) -> None:
    """Give an object what it has of its predecessor, however the client has it.

    A uid and a deletion that the client made up are left for validation to refuse.
    """
    new.uid = new.uid or old.uid
    new.creation_timestamp = old.creation_timestamp
    new.self_link = ""
    new.generation = old.generation
    if old.deletion_timestamp is not None:
        new.deletion_timestamp = old.deletion_timestamp
        if new.deletion_grace_period_seconds is None:
            new.deletion_grace_period_seconds = old.deletion_grace_period_seconds


def drop_repeated_owners(
    obj: Object, context: RequestContext, *, after_admission: bool = False
) -> None:
    """Keep each owner reference once, and warn of those that stood twice."""
    references = obj.metadata.owner_references
    if len(references) < 2:
        return
    kept = []
    repeated: dict[str, None] = {}
    for reference in references:
        if reference in kept:
            repeated[reference.uid] = None
        else:
            kept.append(reference)
    if repeated:
        obj.metadata.owner_references = kept
        when = _AFTER_ADMISSION if after_admission else ""
        context.warn(_TWICE.format(when=when, uids=" ".join(repeated)))
