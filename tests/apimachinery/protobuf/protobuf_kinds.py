"""Kinds with Kubernetes' field numbers, as a group declares them, for the protobuf tests."""

from typing import Any, Literal

from pydantic import field_validator

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension


class ConfigMap(Object):
    immutable: bool | None = field(None, proto=4)
    data: dict[str, str] = field(default_factory=dict, proto=2)
    binary_data: dict[str, Bytes] = field(default_factory=dict, proto=3)


class HostPathVolumeSource(Model):
    path: str = field(proto=1)
    type: str | None = field(None, proto=2)


class EmptyDirVolumeSource(Model):
    medium: str = field("", proto=1)
    size_limit: Quantity | None = field(None, proto=2)


class Volume(Model):
    """JSON inlines the source, which protobuf holds in the message of field 2."""

    name: str = field(proto=1)
    host_path: HostPathVolumeSource | None = field(None, proto=(2, 1))
    empty_dir: EmptyDirVolumeSource | None = field(None, proto=(2, 2))


class ServicePort(Model):
    name: str = field("", proto=1)
    protocol: str = field("TCP", proto=2)
    app_protocol: str | None = field(None, proto=6)
    port: Int32 = field(proto=3)
    target_port: IntOrString | None = field(None, proto=4)
    node_port: Int32 = field(0, proto=5)


class ResourceRequirements(Model):
    limits: dict[str, Quantity] = field(default_factory=dict, proto=1)
    requests: dict[str, Quantity] = field(default_factory=dict, proto=2)


class UserInfo(Model):
    username: str = field("", proto=1)
    uid: str = field("", proto=2)
    groups: list[str] = field(default_factory=list, proto=3)
    extra: dict[str, list[str]] = field(default_factory=dict, proto=4)


class LeaseSpec(Model):
    holder_identity: str | None = field(None, proto=1)
    lease_duration_seconds: Int32 | None = field(None, proto=2)
    acquire_time: MicroTime | None = field(None, proto=3)


class ControllerRevision(Object):
    data: RawExtension | None = field(None, proto=2)
    revision: int = field(proto=3)


class Schema(Model):
    """A recursive type: it refers to itself directly, in lists and in maps."""

    description: str = field("", proto=4)
    default: Any = field(None, proto=8)
    max_length: int | None = field(None, proto=13)
    all_of: list["Schema"] = field(default_factory=list, proto=25)
    not_: "Schema | None" = field(None, proto=28)
    properties: dict[str, "Schema"] = field(default_factory=dict, proto=29)


class Everything(Object):
    """One field of every form, required, with a default and optional."""

    text: str = field(proto=2)
    number: int = field(proto=3)
    small: Int32 = field(proto=4)
    flag: bool = field(proto=5)
    blob: Bytes = field(proto=6)
    at: Time = field(proto=7)
    at_micro: MicroTime = field(proto=8)
    amount: Quantity = field(proto=9)
    port: IntOrString = field(proto=10)
    wait: Duration = field(proto=11)
    document: RawExtension = field(proto=12)
    numbers: list[int] = field(default_factory=list, proto=13)
    smalls: list[Int32] = field(default_factory=list, proto=14)
    instants: list[Time] = field(default_factory=list, proto=15)
    amounts: dict[str, Quantity] = field(default_factory=dict, proto=16)
    replicas: int = field(1, proto=17)
    user: UserInfo = field(proto=18)
    volumes: list[Volume] = field(default_factory=list, proto=19)
    maybe_text: str | None = field(None, proto=20)
    maybe_number: int | None = field(None, proto=21)
    maybe_flag: bool | None = field(None, proto=22)
    maybe_blob: Bytes | None = field(None, proto=23)
    maybe_at: Time | None = field(None, proto=24)
    maybe_amount: Quantity | None = field(None, proto=25)
    maybe_port: IntOrString | None = field(None, proto=26)
    maybe_wait: Duration | None = field(None, proto=27)
    maybe_document: RawExtension | None = field(None, proto=28)
    maybe_user: UserInfo | None = field(None, proto=29)
    maybe_list: list[str] | None = field(None, proto=30)
    schemas: dict[str, Schema] = field(default_factory=dict, proto=31)
    anything: Any = field(None, proto=32)


class Dial(Model):
    """A type with a validator, so decoded objects must be validated."""

    percent: int = field(0, ge=0, le=100, proto=1)
    mode: Literal["slow", "fast"] = field("slow", proto=2)
    ratio: float = field(0.0, proto=3)
    label: str = field("", proto=4)

    @field_validator("label")
    @classmethod
    def _without_space(cls, value: str) -> str:
        if " " in value:
            raise ValueError("must have no space")
        return value


class Panel(Object):
    dials: list[Dial] = field(default_factory=list, proto=2)
