"""What a backend raises, as a client is told of it."""

import pytest

from apimachinery.errors import (
    APIError,
    Expired,
    InternalError,
    RequestEntityTooLarge,
    ServerTimeout,
    StorageReadError,
    Timeout,
    TooManyRequests,
)
from apimachinery.schema import GroupResource
from apiserver.registry.storage_errors import api_error
from apiserver.storage.cache import read_revision as revision
from apiserver.storage.interface import (
    Compacted,
    Full,
    FutureRevision,
    StorageError,
    Unavailable,
    ValueTooLarge,
)
from apiserver.storage.objects import Unreadable


@pytest.mark.parametrize(
    ("error", "expected", "message", "retry_after"),
    [
        (
            Unavailable("gone", uncertain=True),
            ServerTimeout,
            "The update operation against pods could not be completed at this time, please try"
            " again.",
            2,
        ),
        (revision.NotReady("/x/"), TooManyRequests, "storage is (re)initializing", 1),
        (
            revision.TooLargeRevision(9, current=5),
            Timeout,
            "Timeout: Too large resource version: 9, current: 5",
            1,
        ),
        (
            FutureRevision(9, current=5),
            Timeout,
            "Timeout: Too large resource version: 9, current: 5",
            1,
        ),
        (
            Compacted(3, oldest=5),
            Expired,
            "The resourceVersion for the provided list is too old.",
            0,
        ),
        (revision.RevisionExpired(3, oldest=5), Expired, "too old resource version: 3 (5)", 0),
        (Unreadable("/x", "broken"), StorageReadError, "object '/x' cannot be read: broken", 0),
        (
            ValueTooLarge("the limit is 5"),
            RequestEntityTooLarge,
            "Request entity too large: the limit is 5",
            0,
        ),
        (
            Full("no room"),
            InternalError,
            "Internal error occurred: the store is full: no room",
            0,
        ),
        (StorageError("odd"), InternalError, "Internal error occurred: odd", 0),
    ],
)
def test_every_error_of_a_store_has_a_reason(
    error: StorageError, expected: type[APIError], message: str, retry_after: int
) -> None:
    told = api_error(error, GroupResource("", "pods"), "update")

    assert type(told) is expected
    assert str(told) == message
    assert told.retry_after == retry_after
