"""PodTemplateSpec and PodTemplate: the description of pods that are created later."""

from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model, field
from apis.core.v1.pod import PodSpec


class PodTemplateSpec(Model):
    """The pods that a controller creates."""

    metadata: ObjectMeta = field(
        default_factory=ObjectMeta, proto=1, doc="Labels and annotations of the pods."
    )
    spec: PodSpec = field(default_factory=PodSpec, proto=2, doc="Desired behavior of the pods.")


class PodTemplate(Object):
    """PodTemplate is a template for creating copies of a predefined pod."""

    template: PodTemplateSpec = field(
        default_factory=PodTemplateSpec,
        proto=2,
        doc="The pods that are created from this template.",
    )
