"""Two releases of one group: the second one has stricter rules than the objects of the first."""

from typing import Any, Literal

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apiserver.context import RequestContext
from apiserver.group import STATUS, Group, Resource, Subresource, scale
from apiserver.registry.strategy import Strategy

GROUP = "lamps.example.io"
LAMPS = f"/apis/{GROUP}/v1/namespaces/default/lamps"
BETA = f"/apis/{GROUP}/v1beta1/namespaces/default/lamps"


class OldBulb(Model):
    name: str
    watts: int = field(5, ge=1, le=100)


class OldSpec(Model):
    mode: Literal["dim", "bright", "blink", "strobe"] = "dim"
    room: str = ""
    note: str = ""
    replicas: int = field(1, ge=0, le=10)
    bulbs: list[OldBulb] = field(default_factory=list, list_map_keys=("name",))


class OldStatus(Model):
    phase: Literal["Off", "On", "Broken"] = "Off"
    message: str = ""
    ready: int = 0


class OldLamp(Object, kind="Lamp"):
    spec: OldSpec = field(default_factory=OldSpec)
    status: OldStatus = field(default_factory=OldStatus)


class Bulb(Model):
    name: str = field(proto=1)
    watts: int = field(5, ge=1, le=60, proto=2)


class Spec(Model):
    mode: Literal["dim", "bright"] = field("dim", proto=1)
    room: str = field(min_length=3, proto=2)
    note: str = field("", proto=3)
    replicas: int = field(1, ge=0, le=5, proto=4)
    bulbs: list[Bulb] = field(
        default_factory=list,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        proto=5,
    )


class Status(Model):
    phase: Literal["Off", "On"] = field("Off", proto=1)
    message: str = field("", proto=2)
    ready: int = field(0, proto=3)


class Lamp(Object):
    spec: Spec = field(proto=2)
    status: Status = field(default_factory=Status, proto=3)


class BetaSpec(Model):
    light: Literal["dim", "bright"] = "dim"
    room: str = field(min_length=3)
    note: str = ""
    replicas: int = field(1, ge=0, le=5)
    bulbs: list[Bulb] = field(default_factory=list, list_map_keys=("name",))


class BetaLamp(Object, kind="Lamp"):
    spec: BetaSpec
    status: Status = field(default_factory=Status)


class LampStrategy(Strategy[Lamp]):
    """Refuses the notes "bad" and "worse", and treats some names in ways of their own."""

    def validate(self, obj: Lamp) -> FieldErrors:
        if obj.spec.note in ("bad", "worse"):
            yield invalid(Path("spec", "note"), obj.spec.note, "must be good")

    def validate_update(self, new: Lamp, old: Lamp) -> FieldErrors:
        if old.metadata.name == "fragile" and new.spec.note == old.spec.note:
            raise KeyError(old.spec.note)
        if old.metadata.name == "locked":
            yield forbidden(Path("spec"), "is locked")
        if old.metadata.name == "growing" and new.spec.replicas <= old.spec.replicas:
            yield invalid(Path("spec", "replicas"), new.spec.replicas, "must grow")
        yield from self.validate(new)

    def validate_status_update(self, new: Lamp, old: Lamp) -> FieldErrors:
        if new.status.ready < 0:
            yield invalid(Path("status", "ready"), new.status.ready, "must not be negative")


async def repair(context: RequestContext, current: Lamp, body: Lamp) -> Lamp:
    """Take over the note, and nothing else."""
    repaired = current.deep_copy()
    repaired.spec.note = body.spec.note
    return repaired


def _add_old(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), OldLamp, internal=True)


def _add_new(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, INTERNAL), Lamp)
    scheme.add(GroupVersion(GROUP, "v1"), Lamp)
    scheme.add(GroupVersion(GROUP, "v1beta1"), BetaLamp)
    scheme.add_similar(BetaLamp, Lamp, renames={"spec.light": "spec.mode"})


_SUBRESOURCES = (
    STATUS,
    scale(spec_replicas="spec.replicas", status_replicas="status.ready"),
    Subresource("repair", verbs=("patch", "update"), handle=repair),
)

OLD = Group(GROUP, ("v1",), (Resource("lamps", OldLamp, subresources=(STATUS,)),), _add_old)
NEW = Group(
    GROUP,
    ("v1", "v1beta1"),
    (Resource("lamps", Lamp, LampStrategy(), subresources=_SUBRESOURCES),),
    _add_new,
)


def lamp(name: str, **spec: Any) -> Any:
    return {"metadata": {"name": name}, "spec": {"room": "hall", **spec}}
