"""The parameters of requests: which each action takes, and what they mean.

kubectl looks them up: it sends `dryRun=All` or `fieldValidation` to a kind only if its PATCH
operation lists the parameter, so these stand with the operation and not with the path.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter in the query string or in the path; those of the path are required."""

    name: str
    type: str
    description: str
    place: str = "query"


PRETTY: Final = Parameter(
    "pretty",
    "string",
    "If 'true', the answer is indented. Browsers, curl and wget get it so unless told otherwise.",
)
NAMESPACE: Final = Parameter(
    "namespace", "string", "The namespace that the objects are in.", "path"
)
_CONTINUE: Final = Parameter(
    "continue",
    "string",
    "Where to go on with a list that was cut off by limit: metadata.continue of the part before."
    " All other parameters must be the same again. After some minutes the server may have forgotten"
    " the state that the list began with and answers 410; the error then carries a value with"
    " which to go on in the present state instead. Not for watches.",
)
_DRY_RUN: Final = Parameter(
    "dryRun",
    "string",
    "With 'All', the only value, everything is done except that nothing is stored.",
)
_FIELD_MANAGER: Final = Parameter(
    "fieldManager",
    "string",
    "The name of who makes this change, under which the fields it sets are recorded; at most 128"
    " printable characters. An apply must name it.",
)
_FIELD_SELECTOR: Final = Parameter(
    "fieldSelector", "string", "Only objects whose fields have these values; all if empty."
)
_FIELD_VALIDATION: Final = Parameter(
    "fieldValidation",
    "string",
    "What happens to fields that the kind does not have and to fields that occur twice: 'Ignore'"
    " drops them, 'Warn' (the default) drops them and adds a warning to the answer, 'Strict'"
    " refuses the request and names them all.",
)
_FORCE: Final = Parameter(
    "force",
    "boolean",
    "Take fields over from their managers instead of failing with a conflict; only for apply.",
)
_GRACE_PERIOD: Final = Parameter(
    "gracePeriodSeconds",
    "integer",
    "Seconds until the object is removed, not negative; 0 removes it at once. Without a value the"
    " kind decides.",
)
_IGNORE_STORE_ERRORS: Final = Parameter(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "Delete the object even if what is stored of it cannot be read, without finalizers or"
    " preconditions.",
)
_LABEL_SELECTOR: Final = Parameter(
    "labelSelector", "string", "Only objects whose labels match; all if empty."
)
_LIMIT: Final = Parameter(
    "limit",
    "integer",
    "How many objects the answer holds at most. If there are more, its metadata.continue is set and"
    " gets the rest, in the same state of the collection. Not for watches.",
)
_ORPHANS: Final = Parameter(
    "orphanDependents",
    "boolean",
    "Deprecated in favour of propagationPolicy, and not allowed together with it: whether the"
    " objects that this one owns stay.",
)
_PROPAGATION: Final = Parameter(
    "propagationPolicy",
    "string",
    "What happens to the objects that this one owns: they stay ('Orphan'), are deleted afterwards"
    " ('Background') or before ('Foreground').",
)
_RESOURCE_VERSION: Final = Parameter(
    "resourceVersion",
    "string",
    "Which state to answer from, or where a watch begins; resourceVersionMatch says how it is"
    " meant. Unset is the newest state.",
)
_RESOURCE_VERSION_MATCH: Final = Parameter(
    "resourceVersionMatch",
    "string",
    "How resourceVersion is meant: 'Exact', or 'NotOlderThan'.",
)
_SEND_INITIAL: Final = Parameter(
    "sendInitialEvents",
    "boolean",
    "Begin a watch with the objects that there are, as ADDED events, and a bookmark with the"
    " annotation k8s.io/initial-events-end. Needs resourceVersionMatch=NotOlderThan.",
)
_TIMEOUT: Final = Parameter("timeoutSeconds", "integer", "When the server ends the list or watch.")
_BOOKMARKS: Final = Parameter(
    "allowWatchBookmarks",
    "boolean",
    "Let a watch tell from time to time, by BOOKMARK events, how far it has come.",
)
_WATCH: Final = Parameter(
    "watch",
    "boolean",
    "Instead of a list, send changes as they happen, beginning after the state"
    " that resourceVersion names.",
)

LIST: Final = (
    _BOOKMARKS,
    _CONTINUE,
    _FIELD_SELECTOR,
    _LABEL_SELECTOR,
    _LIMIT,
    _RESOURCE_VERSION,
    _RESOURCE_VERSION_MATCH,
    _SEND_INITIAL,
    _TIMEOUT,
    _WATCH,
)

OF_ACTION: Final[Mapping[str, tuple[Parameter, ...]]] = {
    "get": (),
    "list": LIST,
    "watch": LIST,
    "watchlist": LIST,
    "post": (_DRY_RUN, _FIELD_MANAGER, _FIELD_VALIDATION),
    "put": (_DRY_RUN, _FIELD_MANAGER, _FIELD_VALIDATION),
    "patch": (_DRY_RUN, _FIELD_MANAGER, _FIELD_VALIDATION, _FORCE),
    "delete": (_DRY_RUN, _GRACE_PERIOD, _IGNORE_STORE_ERRORS, _ORPHANS, _PROPAGATION),
    "deletecollection": (
        _CONTINUE,
        _DRY_RUN,
        _FIELD_SELECTOR,
        _GRACE_PERIOD,
        _IGNORE_STORE_ERRORS,
        _LABEL_SELECTOR,
        _LIMIT,
        _ORPHANS,
        _PROPAGATION,
        _RESOURCE_VERSION,
        _RESOURCE_VERSION_MATCH,
        _SEND_INITIAL,
        _TIMEOUT,
    ),
}


def name_of(kind: str) -> Parameter:
    """The parameter for the name of an object in the path."""
    return Parameter("name", "string", f"The name of the {kind}.", "path")
