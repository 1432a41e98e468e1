"""Status: the response to a request that returns no object, above all to a failed one."""

from apimachinery.meta.types import ListMeta, TypeMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32


class StatusCause(Model):
    """One cause of an error, usually a field and its validation error."""

    reason: str = field("", proto=1, doc="What is wrong, one word in CamelCase for programs.")
    message: str = field("", proto=2, doc="What is wrong, for people.")
    field: str = field("", proto=3, doc="The path of the field that is wrong.")


class StatusDetails(Model):
    """The object that an error is about. *kind* is usually a resource; for Invalid, a kind."""

    name: str = field("", proto=1, doc="The name of the object.")
    group: str = field("", proto=2, doc="The group of the object.")
    kind: str = field("", proto=3, doc="The kind or the resource of the object.")
    uid: str = field("", proto=6, doc="The uid of the object.")
    causes: list[StatusCause] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Everything that is wrong, if there is more than one thing to say.",
    )
    retry_after_seconds: Int32 = field(
        0, proto=5, doc="Seconds to wait before the request is sent again."
    )


class Status(TypeMeta):
    """The result of a request that returns no object."""

    metadata: ListMeta = field(default_factory=ListMeta, proto=1, doc="Standard list metadata.")
    status: str = field("", proto=2, known=("Success", "Failure"))
    message: str = field("", proto=3, doc="What happened, for people.")
    reason: str = field(
        "",
        proto=4,
        doc="What went wrong, one word in CamelCase for programs; empty if it is not known.",
    )
    details: StatusDetails | None = field(None, proto=5, doc="What the status is about.")
    code: Int32 = field(0, proto=6, doc="The code of the HTTP response.")
