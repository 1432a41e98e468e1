"""VolumeAttributesClass: attributes of volumes that can be changed while they are used."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field


class VolumeAttributesClass(Object):
    """VolumeAttributesClass names a set of attributes that a driver can apply to its volumes.

    Claims choose a class with `spec.volumeAttributesClassName`, and can change it later.
    """

    driver_name: str = field(
        "", proto=2, omit_empty=False, doc="Name of the CSI driver. Required and immutable."
    )
    parameters: dict[str, str] = field(
        default_factory=dict,
        proto=3,
        doc=(
            "Attributes that the driver understands, at least one, at most 512 and 256 KiB."
            " Immutable."
        ),
    )
