"""Object, ObjectMeta and the other types that all kinds share: lists, references, conditions."""

from typing import Any, ClassVar, Generic, TypeVar

from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import FieldsV1, RawExtension


class TypeMeta(Model):
    """The kind and apiVersion of a document; both are empty in internal objects."""

    kind: str = field("", doc="Kind is a string value that names the type of this document.")
    api_version: str = field(
        "", doc="APIVersion defines the group and version that this document is written in."
    )


class OwnerReference(Model, map_type="atomic"):
    """A reference to an owner, whose deletion deletes the object."""

    api_version: str = field(
        "", proto=5, omit_empty=False, doc="The group and version of the owner."
    )
    kind: str = field("", proto=1, omit_empty=False, doc="The kind of the owner.")
    name: str = field(
        "",
        proto=3,
        omit_empty=False,
        doc="The name of the owner, which is in the same namespace or in none.",
    )
    uid: str = field(
        "",
        proto=4,
        omit_empty=False,
        doc="The uid of the owner: an object of the same name that is created later is no owner.",
    )
    controller: bool | None = field(
        None, proto=6, doc="Whether this owner is the controller that manages the object."
    )
    block_owner_deletion: bool | None = field(
        None,
        proto=7,
        doc="Whether a foreground deletion removes the owner only after this object.",
    )


class ManagedFieldsEntry(Model):
    """The fields that one manager owns by one operation in one version."""

    manager: str = field(
        "", proto=1, doc="The name of the field manager, usually that of the program."
    )
    operation: str = field("", proto=2, known=("Apply", "Update"))
    api_version: str = field("", proto=3, doc="The version in which the fields are named.")
    time: Time | None = field(
        None, proto=4, doc="When the manager last changed the set of its fields."
    )
    fields_type: str = field("", proto=6, doc="The format of the fields; FieldsV1 is the only one.")
    fields_v1: FieldsV1 | None = field(
        None, wire="fieldsV1", proto=7, doc="The owned fields as a tree of names."
    )
    subresource: str = field(
        "",
        proto=8,
        doc="The subresource that the fields were written through, empty for the object itself.",
    )


class ObjectMeta(Model):
    """The metadata of every stored object: name, labels, owners, managed fields."""

    name: str = field("", proto=1, doc="The name, unique within a namespace and immutable.")
    generate_name: str = field(
        "", proto=2, doc="The prefix of a unique name that the server generates if name is empty."
    )
    namespace: str = field("", proto=3, doc="The namespace within which the name is unique.")
    self_link: str = field("", proto=4, doc="No longer set by servers.")
    uid: str = field("", proto=5, doc="Unique in time and space; set by the server.")
    resource_version: str = field(
        "", proto=6, doc="An opaque version of the object, for updates and watches."
    )
    generation: int = field(
        0, proto=7, doc="Incremented by the server when the desired state changes."
    )
    creation_timestamp: Time | None = field(
        None, proto=8, doc="When the server created the object."
    )
    deletion_timestamp: Time | None = field(
        None, proto=9, doc="Set by the server when a deletion is requested and not yet complete."
    )
    deletion_grace_period_seconds: int | None = field(
        None,
        proto=10,
        doc="The seconds that the object has to end gracefully; set by the server when deletion"
        " is requested.",
    )
    labels: dict[str, str] = field(
        default_factory=dict, proto=11, doc="Keys and values that selectors match."
    )
    annotations: dict[str, str] = field(
        default_factory=dict, proto=12, doc="Keys and values that selectors do not match."
    )
    owner_references: list[OwnerReference] = field(
        default_factory=list,
        proto=13,
        list_map_keys=("uid",),
        patch_strategy="merge",
        patch_merge_key="uid",
        doc="The objects that this one depends on. It is deleted when all of them are; at most"
        " one is its controller.",
    )
    finalizers: list[str] = field(
        default_factory=list,
        proto=14,
        list_type="set",
        patch_strategy="merge",
        doc="Identifiers of the components that must act before the object is removed. It is"
        " removed once the list is empty.",
    )
    managed_fields: list[ManagedFieldsEntry] = field(
        default_factory=list,
        proto=17,
        list_type="atomic",
        doc="Which manager owns which fields; maintained by the server.",
    )


class Object(TypeMeta):
    """The base class of every kind that is stored by name.

    The kind is the name of the class, or the one that it declares:
    `class GadgetV1(Object, kind="Gadget")`.
    """

    metadata: ObjectMeta = field(
        default_factory=ObjectMeta,
        proto=1,
        doc="Standard object's metadata: its name, labels, annotations and owners.",
    )

    __kind__: ClassVar[str] = "Object"

    def __init_subclass__(cls, kind: str = "", **config: Any) -> None:
        super().__init_subclass__(**config)
        cls.__kind__ = kind or cls.__name__


class ShardInfo(Model):
    """The selector of the shard that a list contains."""

    selector: str = field(proto=1, published_default="", doc="The selector of the shard.")


class ListMeta(Model):
    """The metadata of a list."""

    self_link: str = field("", proto=1, doc="No longer set by servers.")
    resource_version: str = field(
        "", proto=2, doc="The version of the list, from which a watch can continue."
    )
    continue_: str = field(
        "", proto=3, doc="The token that requests the next page; empty on the last one."
    )
    remaining_item_count: int | None = field(
        None, proto=4, doc="How many items follow this page, if the server has counted them."
    )
    shard_info: ShardInfo | None = field(
        None, proto=5, doc="Set if the list contains one shard of the objects only."
    )


ObjectT = TypeVar("ObjectT", bound=TypeMeta)


class ObjectList(TypeMeta, Generic[ObjectT]):
    """A list of objects of one kind; the items omit kind and apiVersion."""

    metadata: ListMeta = field(default_factory=ListMeta, proto=1, doc="Standard list metadata.")
    items: list[ObjectT] = field(
        default_factory=list, proto=2, omit_empty=False, doc="The objects of the list."
    )


class PartialObjectMetadata(Object):
    """The metadata of an object of any kind."""


class PartialObjectMetadataList(TypeMeta):
    """A list of the metadata of objects.

    Not an `ObjectList[...]`, which pydantic would compile when this module is imported.
    """

    metadata: ListMeta = field(default_factory=ListMeta, proto=1, doc="Standard list metadata.")
    items: list[PartialObjectMetadata] = field(
        default_factory=list, proto=2, omit_empty=False, doc="The metadata of each object."
    )


class LabelSelectorRequirement(Model):
    """A requirement on the labels of an object."""

    key: str = field("", proto=1, omit_empty=False, doc="The key of the label.")
    operator: str = field(
        "", proto=2, omit_empty=False, known=("In", "NotIn", "Exists", "DoesNotExist")
    )
    values: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="The values that the operators In and NotIn compare with; empty for the others.",
    )


class LabelSelector(Model, map_type="atomic"):
    """Selects the objects whose labels meet every requirement; an empty one selects all."""

    match_labels: dict[str, str] = field(
        default_factory=dict, proto=1, doc="Labels that an object must have, with these values."
    )
    match_expressions: list[LabelSelectorRequirement] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Requirements on labels; all of them must hold.",
    )


class Condition(Model):
    """One aspect of the observed state of an object."""

    type: str = field(
        proto=1, published_default="", doc="The aspect that the condition is about, such as Ready."
    )
    status: str = field(
        proto=2, enum=("True", "False", "Unknown"), publish_enum=False, published_default=""
    )
    observed_generation: int = field(
        0, proto=3, doc="The generation of the object that the condition was determined from."
    )
    last_transition_time: Time = field(proto=4, doc="When the status last changed.")
    reason: str = field(
        proto=5,
        published_default="",
        doc="The reason of the last transition, one word in CamelCase for programs.",
    )
    message: str = field(
        "", proto=6, omit_empty=False, doc="Details of the last transition, for people."
    )


class WatchEvent(Model):
    """One change of an object in a watch."""

    type: str = field(
        proto=1, known=("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"), published_default=""
    )
    object: RawExtension = field(
        proto=2,
        doc="The object after the change, or before its deletion; a Status if the type is ERROR.",
    )


class Preconditions(Model):
    """The uid and resourceVersion that an object must have to be deleted or updated."""

    uid: str | None = field(None, proto=1, doc="The uid that the object must have.")
    resource_version: str | None = field(
        None, proto=2, doc="The resourceVersion that the object must have."
    )
