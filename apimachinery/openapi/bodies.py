"""What requests carry that is no kind of any group: DeleteOptions.

It is a Model here so that it is published by the same rules as everything else.
"""

from apimachinery.meta.model import field
from apimachinery.meta.types import Preconditions, TypeMeta


class DeleteOptions(TypeMeta):
    """How an object is to be deleted."""

    grace_period_seconds: int | None = field(
        None,
        doc="Seconds until the object is removed, not negative; 0 removes it at once. Without a"
        " value the kind decides.",
    )
    preconditions: Preconditions | None = field(
        None, doc="What must be true of the object; if it is not, the answer is 409 Conflict."
    )
    orphan_dependents: bool | None = field(
        None,
        doc="Deprecated in favour of propagationPolicy, and not allowed together with it. Whether"
        " the objects that this one owns stay.",
    )
    propagation_policy: str | None = field(
        None,
        enum=("Orphan", "Background", "Foreground"),
        doc="What happens to the objects that this one owns: they stay (Orphan), are deleted"
        " afterwards (Background) or before (Foreground). Without a value the kind decides.",
    )
    dry_run: list[str] = field(
        default_factory=list,
        list_type="atomic",
        doc="With the one value All, everything is done except that nothing is stored.",
    )
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = field(
        None,
        doc="Delete the object even if what is stored of it cannot be read, without finalizers or"
        " preconditions. Not allowed together with dryRun.",
    )
