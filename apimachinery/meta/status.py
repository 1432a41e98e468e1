"""Status: the response to a request that returns no object, above all to a failed one."""

from apimachinery.meta.types import ListMeta, TypeMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32


class StatusCause(Model):
    """One cause of an error, usually a field and its validation error."""

    reason: str = field("", proto=1)
    message: str = field("", proto=2)
    field: str = field("", proto=3)


class StatusDetails(Model):
    """The object that an error is about. *kind* is usually a resource; for Invalid, a kind."""

    name: str = field("", proto=1)
    group: str = field("", proto=2)
    kind: str = field("", proto=3)
    uid: str = field("", proto=6)
    causes: list[StatusCause] = field(default_factory=list, proto=4, list_type="atomic")
    retry_after_seconds: Int32 = field(0, proto=5)


class Status(TypeMeta):
    """The result of a request that returns no object."""

    metadata: ListMeta = field(default_factory=ListMeta, proto=1)
    status: str = field("", proto=2, known=("Success", "Failure"))
    message: str = field("", proto=3)
    reason: str = field("", proto=4)
    details: StatusDetails | None = field(None, proto=5)
    code: Int32 = field(0, proto=6)
