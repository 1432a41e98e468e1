"""Validation of VolumeAttachments."""

from typing import Final

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    forbidden,
    immutable,
    invalid,
    required,
    too_long,
    too_long_characters,
)
from apimachinery.names import byte_length, is_dns1123_subdomain, is_dns1123_subdomain_caseless
from apimachinery.scalars.wire_types import INT32_MAX
from apis.core.validation.persistent_volume import validate_inline_volume_spec
from apis.storage.v1 import VolumeAttachment, VolumeAttachmentSource, VolumeError
from apis.storage.validation.parameters import map_size

DRIVER_NAME_MAX: Final = 63
MAX_METADATA_SIZE: Final = 256 * 1024
MAX_MESSAGE_SIZE: Final = 1024

_SPEC: Final = Path("spec")
_STATUS: Final = Path("status")
_ONE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def validate_volume_attachment(attachment: VolumeAttachment) -> FieldErrors:
    spec = attachment.spec
    yield from _validate_source(spec.source, _SPEC.child("source"))
    for error in is_dns1123_subdomain(spec.node_name):
        yield invalid(_SPEC.child("nodeName"), spec.node_name, error)
    yield from validate_attachment_status(attachment)
    name = spec.source.persistent_volume_name
    for error in is_dns1123_subdomain(name) if name is not None else ():
        yield invalid(_SPEC.child("source", "persistentVolumeName"), name, error)
    yield from _validate_attacher(spec.attacher, _SPEC.child("attacher"))


def validate_volume_attachment_update(new: VolumeAttachment, old: VolumeAttachment) -> FieldErrors:
    yield from validate_volume_attachment(new)
    if new.spec != old.spec:
        # As in Kubernetes, the message does not show the new value.
        yield immutable(_SPEC, NULL)


def validate_attachment_status(attachment: VolumeAttachment) -> FieldErrors:
    status = attachment.status
    if map_size(status.attachment_metadata) > MAX_METADATA_SIZE:
        yield too_long(_STATUS.child("attachmentMetadata"), MAX_METADATA_SIZE)
    yield from _validate_failure(status.attach_error, _STATUS.child("attachError"))
    yield from _validate_failure(status.detach_error, _STATUS.child("detachError"))


def _validate_attacher(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
        return
    if len(name) > DRIVER_NAME_MAX:
        yield too_long_characters(path, DRIVER_NAME_MAX)
    for error in is_dns1123_subdomain_caseless(name):
        yield invalid(path, name, error)


def _validate_source(source: VolumeAttachmentSource, path: Path) -> FieldErrors:
    name, inline = source.persistent_volume_name, source.inline_volume_spec
    if name is None and inline is None:
        yield required(path, _ONE)
    elif name is not None and inline is not None:
        yield forbidden(path, _ONE)
    elif name == "":
        rule = "must specify non empty persistentVolumeName"
        yield required(path.child("persistentVolumeName"), rule)
    elif inline is not None:
        yield from validate_inline_volume_spec(inline, path.child("inlineVolumeSpec"))


def _validate_failure(failure: VolumeError | None, path: Path) -> FieldErrors:
    if failure is None:
        return
    if byte_length(failure.message) > MAX_MESSAGE_SIZE:
        yield too_long(path.child("message"), MAX_MESSAGE_SIZE)
    if failure.error_code is not None and failure.error_code < 0:
        rule = f"must be between 0 and {INT32_MAX}, inclusive"
        yield invalid(path.child("errorCode"), failure.error_code, rule)
