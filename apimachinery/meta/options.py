"""What a request can ask for beside the object itself: the options of every verb.

They are kinds like any other, because a DeleteOptions may come as a body and any of them can be
sent as protobuf; most often they come as a query string, which `apimachinery.meta.query_parameters`
reads and writes. What makes them wrong is in `apimachinery.meta.options_validation`.
"""

from dataclasses import dataclass
from typing import Final

from apimachinery.meta.types import Preconditions, TypeMeta
from apimachinery.model.model import field
from apimachinery.selectors import field_selector as fields
from apimachinery.selectors import label_selector as labels

EXACT: Final = "Exact"
NOT_OLDER_THAN: Final = "NotOlderThan"
DRY_RUN_ALL: Final = "All"

FOREGROUND: Final = "Foreground"
BACKGROUND: Final = "Background"
ORPHAN: Final = "Orphan"

_DRY_RUN_DOC: Final = "What is only tried: `All` runs every step and stores nothing."
_MANAGER_DOC: Final = "The name under which the changed fields are owned."
_VALIDATION_DOC: Final = "What happens to unknown and duplicate fields of the body."


@dataclass(frozen=True, slots=True)
class ObjectSelector:
    """The selectors of a list, ready to match."""

    labels: labels.Selector
    fields: fields.FieldSelector

    @property
    def empty(self) -> bool:
        """Whether every object is selected."""
        return self.labels.empty and self.fields.empty


class ListOptions(TypeMeta):
    """Which objects of a collection, in which state, and whether to stay for their changes."""

    label_selector: str = field("", proto=1)
    field_selector: str = field("", proto=2)
    watch: bool = field(False, proto=3)
    allow_watch_bookmarks: bool = field(False, proto=9)
    resource_version: str = field("", proto=4)
    resource_version_match: str = field("", proto=10, enum=(EXACT, NOT_OLDER_THAN))
    timeout_seconds: int | None = field(None, proto=5)
    limit: int = field(0, proto=7, doc="The most items of a page; without one, all of them.")
    continue_: str = field("", proto=8, doc="The token with which the last page ended.")
    send_initial_events: bool | None = field(
        None, proto=11, doc="Whether a watch starts with the objects that exist."
    )

    def selection(self) -> ObjectSelector:
        """Parse both selectors, or raise InvalidSelector."""
        # Most requests select everything, and that needs no parser.
        return ObjectSelector(
            labels.parse(self.label_selector) if self.label_selector else labels.everything(),
            fields.parse(self.field_selector) if self.field_selector else fields.everything(),
        )


class GetOptions(TypeMeta):
    """In which state one object is read."""

    resource_version: str = field("", proto=1)


class CreateOptions(TypeMeta):
    """How an object is created."""

    dry_run: list[str] = field(default_factory=list, proto=1, list_type="atomic", doc=_DRY_RUN_DOC)
    field_manager: str = field("", proto=3, doc=_MANAGER_DOC)
    field_validation: str = field(
        "", proto=4, doc=_VALIDATION_DOC, enum=("Ignore", "Warn", "Strict")
    )


class UpdateOptions(TypeMeta):
    """How an object is replaced."""

    dry_run: list[str] = field(default_factory=list, proto=1, list_type="atomic", doc=_DRY_RUN_DOC)
    field_manager: str = field("", proto=2, doc=_MANAGER_DOC)
    field_validation: str = field(
        "", proto=3, doc=_VALIDATION_DOC, enum=("Ignore", "Warn", "Strict")
    )


class PatchOptions(TypeMeta):
    """How an object is patched."""

    dry_run: list[str] = field(default_factory=list, proto=1, list_type="atomic", doc=_DRY_RUN_DOC)
    force: bool | None = field(
        None, proto=2, doc="Whether an apply takes fields that other managers own."
    )
    field_manager: str = field("", proto=3, doc=_MANAGER_DOC)
    field_validation: str = field(
        "", proto=4, doc=_VALIDATION_DOC, enum=("Ignore", "Warn", "Strict")
    )


class DeleteOptions(TypeMeta):
    """How an object is deleted, and what becomes of those it owns."""

    grace_period_seconds: int | None = field(
        None,
        proto=1,
        doc="Seconds until the object is removed, not negative; 0 removes it at once. Without a"
        " value the kind decides.",
    )
    preconditions: Preconditions | None = field(
        None,
        proto=2,
        doc="What must be true of the object; if it is not, the answer is 409 Conflict.",
    )
    orphan_dependents: bool | None = field(
        None,
        proto=3,
        doc="Deprecated in favour of propagationPolicy, and not allowed together with it. Whether"
        " the objects that this one owns stay.",
    )
    propagation_policy: str | None = field(
        None,
        proto=4,
        enum=(FOREGROUND, BACKGROUND, ORPHAN),
        doc="What happens to the objects that this one owns: they stay (Orphan), are deleted"
        " afterwards (Background) or before (Foreground). Without a value the kind decides.",
    )
    dry_run: list[str] = field(default_factory=list, proto=5, list_type="atomic", doc=_DRY_RUN_DOC)
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = field(
        None,
        proto=6,
        doc="Delete the object even if what is stored of it cannot be read, without finalizers or"
        " preconditions. Not allowed together with dryRun.",
    )


class TableOptions(TypeMeta):
    """How much of an object goes into its row of a table."""

    include_object: str = field("", proto=1, enum=("None", "Metadata", "Object"))


def default_list_options(options: ListOptions) -> None:
    """Let a watch from anywhere begin with the objects that exist, as clients have always expected.

    Only a watch that says nothing about it and starts at no resourceVersion, or at 0, is changed.
    """
    if options.send_initial_events is not None or options.resource_version_match:
        return
    if options.watch and options.resource_version in ("", "0"):
        options.send_initial_events = True
        options.resource_version_match = NOT_OLDER_THAN
