"""References from one object to another."""

from apimachinery.model.model import Model, field


class ObjectReference(Model, map_type="atomic"):
    """Reference to an object or a part of it; which fields are set depends on the referrer."""

    kind: str = field("", proto=1, doc="Kind of the referent.")
    namespace: str = field("", proto=2, doc="Namespace of the referent.")
    name: str = field("", proto=3, doc="Name of the referent.")
    uid: str = field("", proto=4, doc="UID of the referent.")
    api_version: str = field("", proto=5, doc="API version of the referent.")
    resource_version: str = field(
        "", proto=6, doc="Specific resourceVersion of the referent, if any."
    )
    field_path: str = field(
        "", proto=7, doc="Part of the referent, such as `spec.containers{web}`."
    )


class LocalObjectReference(Model, map_type="atomic"):
    """Reference to an object of a known kind in the same namespace."""

    name: str = field("", proto=1, published_default="", doc="Name of the referent.")


class TypedLocalObjectReference(Model, map_type="atomic"):
    """Reference to an object of any kind in the same namespace."""

    api_group: str | None = field(
        None,
        proto=1,
        omit_empty=False,
        required=False,
        doc="Group of the referent; unset for the core group.",
    )
    kind: str = field("", proto=2, omit_empty=False, doc="Kind of the referent.")
    name: str = field("", proto=3, omit_empty=False, doc="Name of the referent.")


class TypedObjectReference(Model):
    """Reference to an object of any kind, perhaps in another namespace."""

    api_group: str | None = field(
        None,
        proto=1,
        omit_empty=False,
        required=False,
        doc="Group of the referent; unset for the core group.",
    )
    kind: str = field("", proto=2, omit_empty=False, doc="Kind of the referent.")
    name: str = field("", proto=3, omit_empty=False, doc="Name of the referent.")
    namespace: str | None = field(
        None, proto=4, doc="Namespace of the referent; defaults to that of the referrer."
    )
