"""Strategy of VolumeAttachments."""

from apimachinery.fieldpath import FieldErrors
from apis.storage.v1 import VolumeAttachment
from apis.storage.validation.volume_attachment import (
    validate_volume_attachment,
    validate_volume_attachment_update,
)
from apiserver import Strategy


class VolumeAttachmentStrategy(Strategy[VolumeAttachment]):
    """The spec is immutable, and every update needs a resourceVersion."""

    qualified_finalizers = True
    allow_unconditional_update = False
    returns_deleted_object = True

    def validate(self, obj: VolumeAttachment) -> FieldErrors:
        yield from validate_volume_attachment(obj)

    def validate_update(self, new: VolumeAttachment, old: VolumeAttachment) -> FieldErrors:
        yield from validate_volume_attachment_update(new, old)

    def validate_status_update(self, new: VolumeAttachment, old: VolumeAttachment) -> FieldErrors:
        yield from validate_volume_attachment_update(new, old)

    def desired_state(self, obj: VolumeAttachment) -> object:
        return None
