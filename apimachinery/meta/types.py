"""The types every kind is made with: Object and its metadata, lists, references, conditions."""

from typing import Any, ClassVar, Generic, TypeVar

from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import FieldsV1, RawExtension


class TypeMeta(Model):
    """Which kind of document this is. Internal objects leave both empty."""

    kind: str = field("", doc="The kind of this document.")
    api_version: str = field("", doc="The group and version this document is written in.")


class OwnerReference(Model, map_type="atomic"):
    """An object that this one belongs to, and whose deletion deletes it."""

    api_version: str = field(proto=5)
    kind: str = field(proto=1)
    name: str = field(proto=3)
    uid: str = field(proto=4)
    controller: bool | None = field(
        None, proto=6, doc="True for the one owner that manages this object."
    )
    block_owner_deletion: bool | None = field(
        None, proto=7, doc="The owner is not removed in the foreground before this object is."
    )


class ManagedFieldsEntry(Model):
    """The fields that one manager last set by one operation in one version."""

    manager: str = field("", proto=1)
    operation: str = field("", proto=2, enum=("Apply", "Update"))
    api_version: str = field("", proto=3)
    time: Time | None = field(None, proto=4)
    fields_type: str = field("", proto=6)
    fields_v1: FieldsV1 | None = field(None, wire="fieldsV1", proto=7)
    subresource: str = field("", proto=8)


class ObjectMeta(Model):
    """What every stored object has beside its content: name, labels, owners, history."""

    name: str = field("", proto=1, doc="Unique within a namespace; cannot be changed.")
    generate_name: str = field(
        "", proto=2, doc="A prefix from which the server makes a unique name when none is given."
    )
    namespace: str = field("", proto=3, doc="The space in which the name is unique.")
    self_link: str = field("", proto=4, doc="No longer set by servers.")
    uid: str = field("", proto=5, doc="Unique in time and space; set by the server.")
    resource_version: str = field(
        "", proto=6, doc="An opaque mark of this state of the object, for updates and watches."
    )
    generation: int = field(0, proto=7, doc="Raised by the server when the desired state changes.")
    creation_timestamp: Time | None = field(None, proto=8)
    deletion_timestamp: Time | None = field(
        None, proto=9, doc="Set by the server when deletion was asked for and is not finished."
    )
    deletion_grace_period_seconds: int | None = field(None, proto=10)
    labels: dict[str, str] = field(
        default_factory=dict, proto=11, doc="Names and values to select objects by."
    )
    annotations: dict[str, str] = field(
        default_factory=dict, proto=12, doc="Names and values that nothing selects by."
    )
    owner_references: list[OwnerReference] = field(
        default_factory=list,
        proto=13,
        list_map_keys=("uid",),
        patch_strategy="merge",
        patch_merge_key="uid",
    )
    finalizers: list[str] = field(
        default_factory=list,
        proto=14,
        list_type="set",
        patch_strategy="merge",
        doc="Who must act before the object is removed; it stays until this is empty.",
    )
    managed_fields: list[ManagedFieldsEntry] = field(
        default_factory=list, proto=17, list_type="atomic"
    )


class Object(TypeMeta):
    """The base of every kind that is stored by name.

    The kind is the name of the class, or what the class says it is:
    `class GadgetV1(Object, kind="Gadget")`.
    """

    metadata: ObjectMeta = field(default_factory=ObjectMeta, proto=1)

    __kind__: ClassVar[str] = "Object"

    def __init_subclass__(cls, kind: str = "", **config: Any) -> None:
        super().__init_subclass__(**config)
        cls.__kind__ = kind or cls.__name__


class ShardInfo(Model):
    """Which part of a sharded collection a list is."""

    selector: str = field(proto=1)


class ListMeta(Model):
    """What a list has beside its items."""

    self_link: str = field("", proto=1)
    resource_version: str = field("", proto=2)
    continue_: str = field("", proto=3)
    remaining_item_count: int | None = field(None, proto=4)
    shard_info: ShardInfo | None = field(None, proto=5)


ObjectT = TypeVar("ObjectT", bound=TypeMeta)


class ObjectList(TypeMeta, Generic[ObjectT]):
    """Objects of one kind; the items of a typed list do not repeat their kind."""

    metadata: ListMeta = field(default_factory=ListMeta, proto=1)
    items: list[ObjectT] = field(default_factory=list, proto=2, omit_empty=False)


class PartialObjectMetadata(Object):
    """An object of any kind, of which only the metadata was asked for."""


class PartialObjectMetadataList(TypeMeta):
    """A list of which only the metadata was asked for.

    Not an `ObjectList[...]`, which pydantic would compile as soon as anybody loads this module.
    """

    metadata: ListMeta = field(default_factory=ListMeta, proto=1)
    items: list[PartialObjectMetadata] = field(default_factory=list, proto=2, omit_empty=False)


class LabelSelectorRequirement(Model):
    """One condition on the labels of an object."""

    key: str = field(proto=1)
    operator: str = field(proto=2, enum=("In", "NotIn", "Exists", "DoesNotExist"))
    values: list[str] = field(default_factory=list, proto=3, list_type="atomic")


class LabelSelector(Model, map_type="atomic"):
    """Objects whose labels meet every condition; an empty one selects all objects."""

    match_labels: dict[str, str] = field(default_factory=dict, proto=1)
    match_expressions: list[LabelSelectorRequirement] = field(
        default_factory=list, proto=2, list_type="atomic"
    )


class Condition(Model):
    """One aspect of the observed state of an object."""

    type: str = field(proto=1)
    status: str = field(proto=2, enum=("True", "False", "Unknown"))
    observed_generation: int = field(0, proto=3)
    last_transition_time: Time = field(proto=4)
    reason: str = field(proto=5)
    message: str = field(proto=6)


class WatchEvent(Model):
    """One change of an object, as a watch reports it."""

    type: str = field(proto=1, enum=("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"))
    object: RawExtension = field(proto=2)


class Preconditions(Model):
    """What must be true of an object for it to be deleted or changed."""

    uid: str | None = field(None, proto=1)
    resource_version: str | None = field(None, proto=2)
