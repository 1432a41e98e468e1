"""Request parameters: the query and path parameters of each action, with their descriptions.

A parameter is listed with its path if all operations of the path take it, else with each operation.
kubectl looks up query parameters with the operations: it sends `dryRun=All` or `fieldValidation`
for a kind only if its PATCH operation lists the parameter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the query string or in the path; path parameters are required."""

    name: str
    type: str
    description: str
    place: str = "query"


PRETTY: Final = Parameter(
    "pretty",
    "string",
    "If 'true', the response is indented, which is the default for browsers, curl and wget.",
)
NAMESPACE: Final = Parameter("namespace", "string", "The namespace of the objects.", "path")
_CONTINUE: Final = Parameter(
    "continue",
    "string",
    "The metadata.continue of the previous page, to continue a list that was truncated by limit."
    " All other parameters must be unchanged. After some minutes the server may have discarded the"
    " state that the list started from and responds with 410; the error then carries a token that"
    " continues the list in the current state. Not supported for watches.",
)
_DRY_RUN: Final = Parameter(
    "dryRun",
    "string",
    "With 'All', the only value, the request is processed in full but nothing is stored.",
)
_FIELD_MANAGER: Final = Parameter(
    "fieldManager",
    "string",
    "The name of the client that makes the change, recorded as the manager of the fields it sets;"
    " at most 128 printable characters. Required for apply.",
)
_FIELD_SELECTOR: Final = Parameter(
    "fieldSelector", "string", "Select objects by the values of their fields; all if empty."
)
_FIELD_VALIDATION: Final = Parameter(
    "fieldValidation",
    "string",
    "How to handle unknown and duplicate fields: 'Ignore' drops them, 'Warn' (the default) drops"
    " them and adds a warning to the response, 'Strict' rejects the request and lists them all.",
)
_FORCE: Final = Parameter(
    "force",
    "boolean",
    "Take over conflicting fields from their managers instead of failing; only for apply.",
)
_GRACE_PERIOD: Final = Parameter(
    "gracePeriodSeconds",
    "integer",
    "Seconds until the object is removed, not negative; 0 removes it immediately. The default"
    " depends on the kind.",
)
_IGNORE_STORE_ERRORS: Final = Parameter(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "Delete the object even if its stored form cannot be decoded, ignoring finalizers and"
    " preconditions.",
)
_LABEL_SELECTOR: Final = Parameter(
    "labelSelector", "string", "Select objects by their labels; all if empty."
)
_LIMIT: Final = Parameter(
    "limit",
    "integer",
    "The maximum number of objects in the response. If there are more, metadata.continue of the"
    " list is set: pass it as continue to get the rest, from the same state of the collection. Not"
    " supported for watches.",
)
_ORPHANS: Final = Parameter(
    "orphanDependents",
    "boolean",
    "Whether to keep the dependents of the object. Deprecated: use propagationPolicy, with which"
    " it cannot be combined.",
)
_PROPAGATION: Final = Parameter(
    "propagationPolicy",
    "string",
    "How to handle the dependents of the object: keep them ('Orphan'), or have the garbage"
    " collector delete them after the object ('Background') or before it ('Foreground').",
)
_RESOURCE_VERSION: Final = Parameter(
    "resourceVersion",
    "string",
    "The state to read, or to start a watch from; resourceVersionMatch defines how it is applied."
    " Unset means the most recent state.",
)
_RESOURCE_VERSION_MATCH: Final = Parameter(
    "resourceVersionMatch",
    "string",
    "How resourceVersion is applied: 'Exact' or 'NotOlderThan'.",
)
_SEND_INITIAL: Final = Parameter(
    "sendInitialEvents",
    "boolean",
    "Start a watch with the existing objects, as ADDED events, followed by a bookmark with the"
    " annotation k8s.io/initial-events-end. Requires resourceVersionMatch=NotOlderThan.",
)
_SHARD_SELECTOR: Final = Parameter(
    "shardSelector",
    "string",
    "Select a shard of the objects: an alpha feature of Kubernetes, which is ignored here.",
)
_TIMEOUT: Final = Parameter(
    "timeoutSeconds", "integer", "Seconds after which the server ends the list or watch."
)
_BOOKMARKS: Final = Parameter(
    "allowWatchBookmarks",
    "boolean",
    "Send BOOKMARK events from time to time, with the current resourceVersion of the watch.",
)
_WATCH: Final = Parameter(
    "watch",
    "boolean",
    "Send changes as they happen instead of a list, starting after resourceVersion.",
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
    _SHARD_SELECTOR,
    _TIMEOUT,
    _WATCH,
)

PARAMETERS_BY_ACTION: Final[Mapping[str, tuple[Parameter, ...]]] = {
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
        _SHARD_SELECTOR,
        _TIMEOUT,
    ),
}


def name_parameter(kind: str) -> Parameter:
    """Return the path parameter for the name of an object."""
    return Parameter("name", "string", f"The name of the {kind}.", "path")
