"""Validation of the subresource `ephemeralcontainers`: containers can only be added."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, quote
from apis.core.v1.pod import Pod
from apis.core.validation.pod.annotations import MIRROR_POD
from apis.core.validation.pod.pod_update import validate_updated_content
from apis.core.validation.pod.stored_exceptions import pod_options
from apis.core.validation.struct_diff import struct_diff

_CONTAINERS: Final = Path("spec", "ephemeralContainers")


def validate_pod_ephemeral_containers_update(
    new: Pod, old: Pod, *, allow_privileged: bool = True
) -> FieldErrors:
    if MIRROR_POD in old.metadata.annotations:
        yield forbidden(Path(""), "static pods do not support ephemeral containers")
        return
    options = pod_options(old, allow_privileged=allow_privileged)
    yield from validate_updated_content(new, old, options)
    containers = {container.name: container for container in new.spec.ephemeral_containers}
    for stored in old.spec.ephemeral_containers:
        container = containers.get(stored.name)
        if container is None:
            rule = f"existing ephemeral containers {quote(stored.name)} may not be removed\n"
            yield forbidden(_CONTAINERS, rule)
        elif container != stored:
            rule = f"existing ephemeral containers {quote(stored.name)} may not be changed\n"
            yield forbidden(_CONTAINERS, rule + struct_diff(stored, container))
