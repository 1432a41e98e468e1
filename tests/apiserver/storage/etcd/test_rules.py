"""The backend's rules about etcd's messages, versions and keys, which need no etcd."""

import grpc
import pytest
from grpc import StatusCode
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.etcd.errors import (
    AccessDenied,
    FailureKind,
    LeaseNotFound,
    RevisionCompacted,
    RevisionInFuture,
    classify,
    translate,
)
from apiserver.storage.etcd.keys import InvalidEtcdKey, Keyspace
from apiserver.storage.etcd.releases import may_lose_writes, reports_progress_correctly
from apiserver.storage.interface import Full, StorageError, ValueTooLarge


def error(code: StatusCode, details: str | None) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details)


@pytest.mark.parametrize(
    ("version", "right"),
    [
        ("3.3.27", False),
        ("3.4.30", False),
        ("3.4.31", True),
        ("3.4.100", True),
        ("3.5.0", False),
        ("3.5.1", False),
        ("3.5.12", False),
        ("3.5.13", True),
        ("v3.5.13", True),
        ("3.5.13+git", True),
        ("3.5.13-rc.0", False),
        ("3.6.0", True),
        ("3.6.0-alpha.0", False),
        ("4.0.0", True),
        ("2.9.99", False),
        ("3.5", False),
        ("3.5.13.1", False),
        ("", False),
        ("unknown", False),
        ("\u0663.6.0", False),
    ],
)
def test_progress_is_trusted_from_the_releases_that_mended_it(version: str, right: bool) -> None:
    assert reports_progress_correctly(version) is right


@pytest.mark.parametrize(
    ("version", "loses"),
    [
        ("3.4.23", False),
        ("3.5.0", True),
        ("3.5.0-rc.1", True),
        ("3.5.1", True),
        ("v3.5.2", True),
        ("3.5.2+git", True),
        ("3.5.3", False),
        ("3.5.10", False),
        ("3.5.20", False),
        ("3.6.1", False),
        ("13.5.1", False),
        ("", False),
    ],
)
def test_the_releases_that_lose_data_are_known(version: str, loses: bool) -> None:
    assert may_lose_writes(version) is loses


@given(st.text())
def test_any_text_is_a_version_or_not(text: str) -> None:
    assert reports_progress_correctly(text) in (True, False)
    assert may_lose_writes(text) in (True, False)


@pytest.mark.parametrize(
    ("code", "details", "verdict"),
    [
        (StatusCode.UNAVAILABLE, "failed to connect to all addresses; ...", FailureKind.REFUSED),
        (StatusCode.UNAVAILABLE, "etcdserver: no leader", FailureKind.REFUSED),
        (StatusCode.RESOURCE_EXHAUSTED, "etcdserver: too many requests", FailureKind.REFUSED),
        (StatusCode.UNAVAILABLE, "Socket closed", FailureKind.UNKNOWN),
        (StatusCode.UNAVAILABLE, "etcdserver: request timed out", FailureKind.UNKNOWN),
        (StatusCode.UNAVAILABLE, "etcdserver: leader changed", FailureKind.UNKNOWN),
        (StatusCode.UNAVAILABLE, "etcdserver: server stopped", FailureKind.UNKNOWN),
        (StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", FailureKind.UNKNOWN),
        (StatusCode.INTERNAL, "Received RST_STREAM with error code 2", FailureKind.UNKNOWN),
        (StatusCode.UNKNOWN, "raft proposal dropped", FailureKind.UNKNOWN),
        (StatusCode.CANCELLED, None, FailureKind.UNKNOWN),
        (StatusCode.UNAUTHENTICATED, "etcdserver: invalid auth token", FailureKind.TOKEN),
        (StatusCode.INVALID_ARGUMENT, "etcdserver: user name is empty", FailureKind.TOKEN),
        (
            StatusCode.INVALID_ARGUMENT,
            "etcdserver: revision of auth store is old",
            FailureKind.TOKEN,
        ),
        (StatusCode.PERMISSION_DENIED, "etcdserver: permission denied", FailureKind.FINAL),
        (StatusCode.INVALID_ARGUMENT, "etcdserver: request is too large", FailureKind.FINAL),
    ],
)
def test_a_failed_call_says_of_its_request(
    code: StatusCode, details: str | None, verdict: FailureKind
) -> None:
    assert classify(error(code, details)) is verdict


@pytest.mark.parametrize(
    ("code", "details", "kind"),
    [
        (StatusCode.INVALID_ARGUMENT, "etcdserver: request is too large", ValueTooLarge),
        (
            StatusCode.RESOURCE_EXHAUSTED,
            "grpc: received message larger than max (3000000 vs. 2097152)",
            ValueTooLarge,
        ),
        (StatusCode.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", Full),
        (StatusCode.PERMISSION_DENIED, "etcdserver: permission denied", AccessDenied),
        (
            StatusCode.INVALID_ARGUMENT,
            "etcdserver: authentication failed, invalid user ID or password",
            AccessDenied,
        ),
        (
            StatusCode.OUT_OF_RANGE,
            "etcdserver: mvcc: required revision has been compacted",
            RevisionCompacted,
        ),
        (
            StatusCode.OUT_OF_RANGE,
            "etcdserver: mvcc: required revision is a future revision",
            RevisionInFuture,
        ),
        (StatusCode.NOT_FOUND, "etcdserver: requested lease not found", LeaseNotFound),
        (StatusCode.UNIMPLEMENTED, None, StorageError),
    ],
)
def test_a_final_error_becomes(
    code: StatusCode, details: str | None, kind: type[StorageError]
) -> None:
    assert type(translate(error(code, details))) is kind


_KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda key: not key.startswith("\0")
)


@given(st.text(st.characters(exclude_categories=["Cs"])), _KEYS)
def test_a_key_comes_back_without_the_prefix(prefix: str, key: str) -> None:
    keyspace = Keyspace(prefix)

    assert keyspace.decode(keyspace.encode(key)) == key


@given(st.text(st.characters(exclude_categories=["Cs"])), _KEYS, st.text(max_size=2))
def test_a_span_holds_just_the_keys_that_begin_so(prefix: str, key: str, begin: str) -> None:
    keyspace = Keyspace(prefix)
    if begin.startswith("\0") or any("\ud800" <= char <= "\udfff" for char in begin):
        return

    first, end = keyspace.span(begin)

    held = first <= keyspace.encode(key) and (end == b"\0" or keyspace.encode(key) < end)
    assert held == key.startswith(begin)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(codec="ascii")))
def test_the_backends_own_keys_are_in_no_span(prefix: str, name: str) -> None:
    keyspace = Keyspace(prefix)

    first, _ = keyspace.span("")

    assert keyspace.internal_key(name) < first


@pytest.mark.parametrize("key", ["", "\0own", "/\ud800"])
def test_keys_that_etcd_or_the_backend_cannot_hold_are_refused(key: str) -> None:
    with pytest.raises(InvalidEtcdKey):
        Keyspace("/x").encode(key)
