"""The arguments of a client's verbs as the options of the wire."""

from collections.abc import Mapping
from typing import Any, Unpack

from apimachinery.codec import dump_json
from apimachinery.meta.options import (
    DRY_RUN_ALL,
    CreateOptions,
    DeleteOptions,
    ListOptions,
    PatchOptions,
    UpdateOptions,
)
from apimachinery.meta.types import LabelSelector, Preconditions
from apimachinery.selectors import field_selector as fields
from apimachinery.selectors import label_selector as labels
from client.interface import DeleteArguments, Fields, Labels, ReadOptions, WriteOptions
from client.transport.request import InvalidRequest, Pairs, query_parameters


def list_options(
    *, limit: int = 0, continue_: str = "", **options: Unpack[ReadOptions]
) -> ListOptions:
    """The options of a list."""
    return ListOptions(
        label_selector=format_label_selector(options.get("labels", "")),
        field_selector=format_field_selector(options.get("fields", "")),
        resource_version=options.get("resource_version", ""),
        resource_version_match=options.get("resource_version_match", ""),
        timeout_seconds=options.get("timeout_seconds"),
        limit=limit,
        continue_=continue_,
    )


def format_label_selector(selector: Labels) -> str:
    """A label selector as text; what cannot be one raises InvalidSelector."""
    if isinstance(selector, str):
        return selector
    if isinstance(selector, LabelSelector):
        selector = labels.from_label_selector(selector)
    elif isinstance(selector, Mapping):
        selector = labels.from_set(selector)
    if not selector.selectable:
        raise InvalidRequest("a selector of nothing cannot be sent: there is nothing to ask for")
    return str(selector)


def format_field_selector(selector: Fields) -> str:
    """A field selector as text."""
    if isinstance(selector, str):
        return selector
    return str(fields.from_set(selector) if isinstance(selector, Mapping) else selector)


def create_query(options: WriteOptions) -> Pairs:
    return query_parameters(CreateOptions(**_write(options))) if options else ()


def update_query(options: WriteOptions) -> Pairs:
    return query_parameters(UpdateOptions(**_write(options))) if options else ()


def patch_query(options: WriteOptions, *, force: bool | None = None) -> Pairs:
    if not options and force is None:
        return ()
    return query_parameters(PatchOptions(**_write(options), force=force))


def delete_body(options: DeleteArguments) -> bytes:
    """The options of a delete go into its body, and nothing goes when there are none."""
    if not options:
        return b""
    conditions = Preconditions(
        uid=options.get("uid") or None, resource_version=options.get("resource_version") or None
    )
    named = conditions.uid is not None or conditions.resource_version is not None
    return dump_json(
        DeleteOptions(
            grace_period_seconds=options.get("grace_period"),
            propagation_policy=options.get("propagation"),
            preconditions=conditions if named else None,
            dry_run=[DRY_RUN_ALL] if options.get("dry_run") else [],
        )
    )


def _write(options: WriteOptions) -> dict[str, Any]:
    return {
        "dry_run": [DRY_RUN_ALL] if options.get("dry_run") else [],
        "field_manager": options.get("field_manager", ""),
        "field_validation": options.get("field_validation", ""),
    }
