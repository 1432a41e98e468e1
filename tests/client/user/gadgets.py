"""A user's group in one file: an internal class, one version of it, and the way between them."""

from datetime import timedelta

from apimachinery import (
    INTERNAL,
    Condition,
    FieldErrors,
    GroupVersion,
    Model,
    Object,
    Path,
    Scheme,
    field,
    invalid,
)
from apiserver import STATUS, Group, Resource, Strategy

GROUP = "gadgets.user.example.io"


class GadgetSpec(Model):
    replicas: int = field(1, ge=0, le=100)
    timeout: timedelta = timedelta(minutes=1)
    node: str = ""


class GadgetStatus(Model):
    ready_replicas: int = 0
    conditions: list[Condition] = field(default_factory=list, list_map_keys=("type",))


class Gadget(Object):
    spec: GadgetSpec = GadgetSpec()
    status: GadgetStatus = GadgetStatus()


class GadgetSpecV1(Model):
    """How the gadget should run."""

    replicas: int = field(1, ge=0, le=100, doc="How many to keep running.")
    timeout_seconds: int = 60
    node: str = ""


class GadgetV1(Object, kind="Gadget"):
    """A Gadget does one thing."""

    spec: GadgetSpecV1 = GadgetSpecV1()
    status: GadgetStatus = GadgetStatus()


def to_internal(g: GadgetV1) -> Gadget:
    spec = GadgetSpec(
        replicas=g.spec.replicas,
        timeout=timedelta(seconds=g.spec.timeout_seconds),
        node=g.spec.node,
    )
    return Gadget(metadata=g.metadata, status=g.status, spec=spec)


def from_internal(g: Gadget) -> GadgetV1:
    seconds = int(g.spec.timeout.total_seconds())
    spec = GadgetSpecV1(replicas=g.spec.replicas, timeout_seconds=seconds, node=g.spec.node)
    return GadgetV1(metadata=g.metadata, status=g.status, spec=spec)


class GadgetStrategy(Strategy[Gadget]):
    def validate(self, gadget: Gadget) -> FieldErrors:
        if gadget.spec.timeout <= timedelta():
            yield invalid(Path("spec", "timeoutSeconds"), gadget.spec.timeout, "must be positive")


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, INTERNAL), Gadget)
    scheme.add(GroupVersion(GROUP, "v1"), GadgetV1)
    scheme.add_conversion(to_internal, from_internal)


GADGETS = Group(
    GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource("gadgets", Gadget, GadgetStrategy(), short_names=("gd",), subresources=(STATUS,)),
    ),
)
