"""DeviceToleration: taints of devices that a request accepts."""

from typing import Final

from apimachinery.model.model import Model, field

EQUAL: Final = "Equal"
EXISTS: Final = "Exists"


class DeviceToleration(Model):
    """Tolerates the taints that match it."""

    key: str = field(
        "", proto=1, doc="Key of the taint; empty, with the operator Exists, for all taints."
    )
    operator: str = field(
        "",
        proto=2,
        known=("Equal", "Exists"),
        publish_enum=True,
        published_default="Equal",
        doc="Relation between key and value: Exists, or Equal, which is the default.",
    )
    value: str = field("", proto=3, doc="Value of the taint, for the operator Equal.")
    effect: str = field(
        "",
        proto=4,
        known=("NoExecute", "NoSchedule", "None"),
        publish_enum=True,
        doc="Effect of the taint: None, NoSchedule or NoExecute; empty for all.",
    )
    toleration_seconds: int | None = field(
        None,
        proto=5,
        doc="Seconds for which a taint with the effect NoExecute is tolerated; forever if unset.",
    )
