"""References from one object to another."""

from apimachinery.model.model import Model, field


class ObjectReference(Model):
    """Any object, or a part of it. Which fields are used depends on who refers."""

    kind: str = field("", proto=1, doc="The kind of the object.")
    namespace: str = field("", proto=2, doc="The namespace of the object.")
    name: str = field("", proto=3, doc="The name of the object.")
    uid: str = field("", proto=4, doc="The uid of the object, if that very one is meant.")
    api_version: str = field("", proto=5, doc="The group and version of the kind.")
    resource_version: str = field("", proto=6, doc="The state of the object that is meant.")
    field_path: str = field(
        "", proto=7, doc="A part of the object, such as `spec.containers{web}`."
    )


class LocalObjectReference(Model):
    """An object of a known kind in the same namespace."""

    name: str = field("", proto=1, doc="The name of the object.")
