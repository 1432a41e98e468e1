"""IngressClass: which controller implements the Ingresses of a class."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field

CLUSTER_SCOPE: Final = "Cluster"
NAMESPACE_SCOPE: Final = "Namespace"

DEFAULT_CLASS_ANNOTATION: Final = "ingressclass.kubernetes.io/is-default-class"
"""Annotation that makes a class the default of new Ingresses, with the value `true`."""


class IngressClassParametersReference(Model):
    """Reference to an object with parameters of a class."""

    api_group: str | None = field(
        None, proto=1, doc="API group of the object; unset for the core group."
    )
    kind: str = field("", proto=2, omit_empty=False, doc="Kind of the object. Required.")
    name: str = field("", proto=3, omit_empty=False, doc="Name of the object. Required.")
    scope: str | None = field(
        None,
        proto=4,
        doc="Cluster, which is the default, or Namespace for a namespaced object.",
    )
    namespace: str | None = field(
        None,
        proto=5,
        doc="Namespace of the object; required for scope Namespace, not set for scope Cluster.",
    )


class IngressClassSpec(Model):
    """Controller of a class, and its parameters."""

    controller: str = field(
        "",
        proto=1,
        doc=(
            "Controller of the class as a domain with a path, such as `acme.io/ingress`, at most"
            " 250 characters. Immutable."
        ),
    )
    parameters: IngressClassParametersReference | None = field(
        None, proto=2, doc="Object with parameters that the controller understands."
    )


class IngressClass(Object):
    """IngressClass names the controller that implements the Ingresses of this class.

    The annotation `ingressclass.kubernetes.io/is-default-class` with the value `true` makes it the
    class of new Ingresses that name none.
    """

    spec: IngressClassSpec = field(
        default_factory=IngressClassSpec, proto=2, doc="Controller of the class."
    )
