"""Request options: ListOptions, GetOptions, CreateOptions and the options of the other verbs.

They are kinds, because DeleteOptions may be sent as a body and any of them can be encoded as
protobuf. Most are sent as query strings, which `apimachinery.meta.query_parameters` parses and
formats; `apimachinery.meta.options_validation` validates them.
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

_DRY_RUN_DOC: Final = "The stages of a dry run: `All` runs every stage and persists nothing."
_MANAGER_DOC: Final = "The field manager that owns the changed fields."
_VALIDATION_DOC: Final = "How the server treats unknown and duplicate fields of the body."


@dataclass(frozen=True, slots=True)
class ObjectSelector:
    """The parsed label and field selectors of a request."""

    labels: labels.Selector
    fields: fields.FieldSelector

    @property
    def empty(self) -> bool:
        """Whether both selectors select every object."""
        return self.labels.empty and self.fields.empty


class ListOptions(TypeMeta):
    """The options of a list or watch: selectors, resourceVersion and pagination."""

    label_selector: str = field("", proto=1)
    field_selector: str = field("", proto=2)
    watch: bool = field(False, proto=3)
    allow_watch_bookmarks: bool = field(False, proto=9)
    resource_version: str = field("", proto=4)
    resource_version_match: str = field("", proto=10, enum=(EXACT, NOT_OLDER_THAN))
    timeout_seconds: int | None = field(None, proto=5)
    limit: int = field(0, proto=7, doc="The maximum number of items of a page; 0 is no limit.")
    continue_: str = field("", proto=8, doc="The continue token of the previous page.")
    send_initial_events: bool | None = field(
        None, proto=11, doc="Whether a watch starts with events for the existing objects."
    )

    def selection(self) -> ObjectSelector:
        """Parse both selectors; raises InvalidSelector."""
        # Most requests have no selectors, and skip the parser.
        return ObjectSelector(
            labels.parse(self.label_selector) if self.label_selector else labels.everything(),
            fields.parse(self.field_selector) if self.field_selector else fields.everything(),
        )


class GetOptions(TypeMeta):
    """The options of a get."""

    resource_version: str = field("", proto=1)


class CreateOptions(TypeMeta):
    """The options of a create."""

    dry_run: list[str] = field(default_factory=list, proto=1, list_type="atomic", doc=_DRY_RUN_DOC)
    field_manager: str = field("", proto=3, doc=_MANAGER_DOC)
    field_validation: str = field(
        "", proto=4, doc=_VALIDATION_DOC, enum=("Ignore", "Warn", "Strict")
    )


class UpdateOptions(TypeMeta):
    """The options of an update."""

    dry_run: list[str] = field(default_factory=list, proto=1, list_type="atomic", doc=_DRY_RUN_DOC)
    field_manager: str = field("", proto=2, doc=_MANAGER_DOC)
    field_validation: str = field(
        "", proto=3, doc=_VALIDATION_DOC, enum=("Ignore", "Warn", "Strict")
    )


class PatchOptions(TypeMeta):
    """The options of a patch."""

    dry_run: list[str] = field(default_factory=list, proto=1, list_type="atomic", doc=_DRY_RUN_DOC)
    force: bool | None = field(
        None, proto=2, doc="Whether an apply takes over fields that other managers own."
    )
    field_manager: str = field("", proto=3, doc=_MANAGER_DOC)
    field_validation: str = field(
        "", proto=4, doc=_VALIDATION_DOC, enum=("Ignore", "Warn", "Strict")
    )


class DeleteOptions(TypeMeta):
    """The options of a delete."""

    grace_period_seconds: int | None = field(
        None,
        proto=1,
        doc="Seconds until the object is removed, not negative; 0 removes it immediately. The"
        " default depends on the kind.",
    )
    preconditions: Preconditions | None = field(
        None,
        proto=2,
        doc="Preconditions of the deletion; if they are not met, the server responds with 409"
        " Conflict.",
    )
    orphan_dependents: bool | None = field(
        None,
        proto=3,
        doc="Deprecated in favor of propagationPolicy, and not allowed together with it. Whether"
        " the dependents of the object are orphaned.",
    )
    propagation_policy: str | None = field(
        None,
        proto=4,
        enum=(FOREGROUND, BACKGROUND, ORPHAN),
        publish_enum=False,
        doc="How garbage collection treats the dependents: they stay (Orphan), or are deleted after"
        " the object (Background) or before it (Foreground). The default depends on the kind.",
    )
    dry_run: list[str] = field(default_factory=list, proto=5, list_type="atomic", doc=_DRY_RUN_DOC)
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = field(
        None,
        proto=6,
        doc="Delete the object even if its stored data cannot be decoded, ignoring finalizers and"
        " preconditions. Not allowed together with dryRun.",
    )


class TableOptions(TypeMeta):
    """The options of a request for a Table: what its rows include of each object."""

    include_object: str = field("", proto=1, known=("None", "Metadata", "Object"))


def default_list_options(options: ListOptions) -> None:
    """Make a watch without a resourceVersion, or from 0, send the existing objects first.

    Clients rely on this. It applies only if the request sets neither sendInitialEvents nor
    resourceVersionMatch.
    """
    if options.send_initial_events is not None or options.resource_version_match:
        return
    if options.watch and options.resource_version in ("", "0"):
        options.send_initial_events = True
        options.resource_version_match = NOT_OLDER_THAN
