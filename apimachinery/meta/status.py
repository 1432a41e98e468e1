"""Status: what a server answers when there is no object to answer with, above all for errors."""

from apimachinery.meta.types import ListMeta, TypeMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32


class StatusCause(Model):
    """One of several reasons for an error, usually a field and what is wrong with it."""

    reason: str = field("", proto=1)
    message: str = field("", proto=2)
    field: str = field("", proto=3)


class StatusDetails(Model):
    """What the error is about. *kind* is mostly a resource name, and a kind for Invalid."""

    name: str = field("", proto=1)
    group: str = field("", proto=2)
    kind: str = field("", proto=3)
    uid: str = field("", proto=6)
    causes: list[StatusCause] = field(default_factory=list, proto=4, list_type="atomic")
    retry_after_seconds: Int32 = field(0, proto=5)


class Status(TypeMeta):
    """The outcome of a request that has no other answer."""

    metadata: ListMeta = field(default_factory=ListMeta, proto=1)
    status: str = field("", proto=2, enum=("Success", "Failure"))
    message: str = field("", proto=3)
    reason: str = field("", proto=4)
    details: StatusDetails | None = field(None, proto=5)
    code: Int32 = field(0, proto=6)
