"""Pagination: the revision that a list reads, and the continue tokens that connect its pages.

All pages of a list show the state of the first page, whose revision is part of the continue token.
When that revision is compacted, the client gets an Expired error with a token by which it can go on
at the newest state, inconsistently.
"""

from dataclasses import dataclass
from typing import Final

from apimachinery.errors import BadRequest, Expired
from apimachinery.fieldpath import Path, invalid
from apimachinery.meta.options import EXACT, NOT_OLDER_THAN, ListOptions
from apimachinery.meta.types import ListMeta
from apiserver.registry.storage_errors import TOO_OLD
from apiserver.registry.system_metadata import parse_resource_version
from apiserver.storage.cache.collection import CollectionListing
from apiserver.storage.cache.entry import Entry
from apiserver.storage.cache.read_revision import At, Exact, Freshness, NotOlderThan
from apiserver.storage.continue_tokens import (
    NEWEST,
    Continuation,
    InvalidToken,
    decode_token,
    encode_token,
)

_TOKEN_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results. Continuing with the provided token results in an"
    " inconsistent list - objects that were created, modified, or deleted between the time the"
    " first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The arguments of the cache for one page."""

    at: At
    limit: int = 0
    start: str = ""


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """One page of a list as a client sees it."""

    entries: list[Entry]
    revision: int
    """Of the store; 0 if the objects are not stored."""
    continue_token: str = ""
    remaining: int | None = None

    @property
    def metadata(self) -> ListMeta:
        return ListMeta(
            resource_version=str(self.revision) if self.revision else "",
            continue_=self.continue_token,
            remaining_item_count=self.remaining,
        )


def read_at(resource_version: str) -> Freshness | NotOlderThan:
    """Return how fresh a read must be. Raises BadRequest for a malformed resourceVersion."""
    revision = parse_read_version(resource_version)
    if revision:
        return NotOlderThan(revision)
    return Freshness.ANY if resource_version else Freshness.NEWEST


def list_request(options: ListOptions, *, prefix: str) -> ListRequest:
    """Translate the options of a list of *prefix* for the cache. Raises BadRequest."""
    limit = max(options.limit, 0)
    version = options.resource_version
    if options.continue_:
        return _continue_request(options, limit, prefix)
    revision = parse_read_version(version)
    if not revision:
        # "0" names no state that further pages could show, and old clients expect no pages of it.
        return ListRequest(Freshness.ANY) if version else ListRequest(Freshness.NEWEST, limit)
    match = options.resource_version_match
    if match == EXACT or (limit and match != NOT_OLDER_THAN):
        return ListRequest(Exact(revision), limit)
    return ListRequest(NotOlderThan(revision), limit)


def object_page(listing: CollectionListing, *, prefix: str) -> ObjectPage:
    """Return the page of a listing, with a continue token if there are more objects."""
    if not listing.more:
        return ObjectPage(listing.entries, listing.revision)
    token = encode_token(Continuation(listing.next_start, listing.revision), prefix=prefix)
    return ObjectPage(listing.entries, listing.revision, token, listing.remaining)


def expired(request: ListRequest, *, prefix: str) -> Expired:
    """Return the error for a list at a revision that is no longer available."""
    if not request.start:
        return Expired(TOO_OLD)
    error = Expired(_TOKEN_TOO_OLD)
    error.continue_token = encode_token(Continuation(request.start, NEWEST), prefix=prefix)
    return error


def parse_read_version(resource_version: str) -> int:
    """Return the revision of a read's resourceVersion, 0 without one. Raises BadRequest."""
    try:
        return parse_resource_version(resource_version)
    except BadRequest as error:
        reason = invalid(Path("resourceVersion"), resource_version, error.message)
        raise BadRequest(f"invalid resource version: {reason}") from None


def _continue_request(options: ListOptions, limit: int, prefix: str) -> ListRequest:
    try:
        token = decode_token(options.continue_, prefix=prefix)
    except InvalidToken as error:
        raise BadRequest(f"invalid continue token: {error}") from None
    if options.resource_version not in ("", "0"):
        raise BadRequest("specifying resource version is not allowed when using continue")
    at = Exact(token.revision) if token.consistent else Freshness.NEWEST
    return ListRequest(at, limit, token.start)
