"""Request options: convert the arguments of a client's methods to ListOptions, DeleteOptions etc.

The options of a write become query parameters, those of a delete become its body.
"""

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
    """Build the ListOptions of a list or watch."""
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
    """Format a label selector as text.

    Raises InvalidSelector if it is malformed, and InvalidRequest if it matches nothing.
    """
    if isinstance(selector, str):
        return selector
    if isinstance(selector, LabelSelector):
        selector = labels.from_label_selector(selector)
    elif isinstance(selector, Mapping):
        selector = labels.from_set(selector)
    if not selector.selectable:
        raise InvalidRequest("the label selector matches nothing and has no text form")
    return str(selector)


def format_field_selector(selector: Fields) -> str:
    """Format a field selector as text."""
    if isinstance(selector, str):
        return selector
    return str(fields.from_set(selector) if isinstance(selector, Mapping) else selector)


def create_query(options: WriteOptions) -> Pairs:
    return query_parameters(CreateOptions(**_write_options(options))) if options else ()


def update_query(options: WriteOptions) -> Pairs:
    return query_parameters(UpdateOptions(**_write_options(options))) if options else ()


def patch_query(options: WriteOptions, *, force: bool | None = None) -> Pairs:
    if not options and force is None:
        return ()
    return query_parameters(PatchOptions(**_write_options(options), force=force))


def delete_body(options: DeleteArguments) -> bytes:
    """Encode the DeleteOptions, which are sent as the body; return no body without options."""
    if not options:
        return b""
    preconditions = Preconditions(
        uid=options.get("uid") or None, resource_version=options.get("resource_version") or None
    )
    conditional = preconditions.uid is not None or preconditions.resource_version is not None
    return dump_json(
        DeleteOptions(
            grace_period_seconds=options.get("grace_period"),
            propagation_policy=options.get("propagation"),
            preconditions=preconditions if conditional else None,
            dry_run=[DRY_RUN_ALL] if options.get("dry_run") else [],
            ignore_store_read_error_with_cluster_breaking_potential=(
                options.get("ignore_store_read_error") or None
            ),
        )
    )


def _write_options(options: WriteOptions) -> dict[str, Any]:
    return {
        "dry_run": [DRY_RUN_ALL] if options.get("dry_run") else [],
        "field_manager": options.get("field_manager", ""),
        "field_validation": options.get("field_validation", ""),
    }
