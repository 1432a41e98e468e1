"""The page about the way of a request names files that exist and limits that hold."""

import re
from pathlib import Path

import pytest

from apimachinery import errors, fieldpath
from apimachinery.apply import managed_fields
from apimachinery.model import decoding as decode
from apimachinery.model import fail_fast
from apimachinery.patch import json_patch
from apimachinery.selectors import parser
from apimachinery.serialization import document_size, yaml
from apis.core.quota import ledger
from apis.flowcontrol.bootstrap import suggested_levels
from apis.rbac import rules
from apiserver import time_slices
from apiserver.auth import authentication
from apiserver.auth import service_account_tokens as service_accounts
from apiserver.config import ServerConfig
from apiserver.connections import (
    body_framing,
    connection,
    connection_end,
    listener,
    request_body,
    request_head,
)
from apiserver.fairness import loop_pressure, request_fairness
from apiserver.handlers import list as lists
from apiserver.handlers import watch
from apiserver.http import gate, response
from apiserver.http.request_limits import Limits
from apiserver.pages import health
from apiserver.process import serving, supervised_worker
from apiserver.registry import following, store
from apiserver.storage import value_limit
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.sqlite import backend as sqlite
from apiserver.storage.sqlite import sessions

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/request-flow.md").read_text()
TABLE = PAGE.partition("## Every queue and limit")[2]
KIB, MIB = 1024, 1024 * 1024
LIMITS, CACHE = Limits(), CacheLimits()
SIZES = [
    ("a connection left to workers that have fewer", f"{listener.LEAVE_SECONDS * 1000:g} ms"),
    ("TLS handshake", f"{listener.HANDSHAKE_TIMEOUT:g} s"),
    ("connections that are not authenticated, per worker", f"{listener.MAX_NEWCOMERS:,}"),
    ("connections, per worker", f"{listener.MAX_CONNECTIONS:,}"),
    ("request line and all headers together", f"{request_head.MAX_HEAD_BYTES // KIB} KiB"),
    ("request head, from its first byte", f"{connection.HEAD_SECONDS:g} s"),
    ("a client that reads nothing of its response", f"{connection_end.STALL_SECONDS:g} s"),
    (
        "a client that still sends after an early response",
        f"{connection_end.LINGER_SECONDS:g} s",
    ),
    (
        "confirmation of the end of TLS",
        f"{connection_end.CONFIRM_SECONDS:g} s",
    ),
    ("idle connection", f"{serving.KEEP_ALIVE} s"),
    ("request line, one header", f"{request_head.MAX_LINE_BYTES // KIB} KiB"),
    ("headers", f"{request_head.MAX_HEADERS}"),
    ("line before a chunk, with its extensions", f"{body_framing.MAX_CHUNK_HEAD // KIB} KiB"),
    ("received bytes that wait for the application", f"{request_body.MAX_WAITING // KIB} KiB"),
    ("a request whose client has left", f"{connection.DISCONNECT_SECONDS:g} s"),
    ("seats of all workers together", f"{ServerConfig().worker_seats}"),
    (
        "requests in one queue of a flow",
        f"{suggested_levels()[0].spec.limited.limit_response.queuing.queue_length_limit}",  # type: ignore[union-attr]
    ),
    ("wait for a seat", f"{LIMITS.request_seconds / 4:g} s, a quarter of the deadline"),
    ("cached classifications of requests", f"{request_fairness.MOST_FLOWS:,}"),
    ("delay of the event loop", f"{loop_pressure.LATE * 1000:g} ms on average"),
    (
        "concurrent reads / writes without priority and fairness",
        f"{LIMITS.reads} / {LIMITS.writes} of all workers",
    ),
    ("a response that its client does not read", f"{gate.STALL_SECONDS:g} s"),
    (
        "progress of a request body",
        f"{LIMITS.body_progress // KIB} KiB in {LIMITS.body_seconds:g} s",
    ),
    (
        "request bodies in memory, of one user / of all",
        f"{LIMITS.user_bodies // MIB} MiB / {LIMITS.all_bodies // MIB} MiB",
    ),
    ("request deadline", f"{LIMITS.request_seconds:g} s"),
    ("users kept with the group of all authenticated users", f"{authentication.MOST_USERS:,}"),
    (
        "cached signatures of ServiceAccount tokens",
        f"{service_accounts.MAX_VERIFIED:,}",
    ),
    ("body", f"{document_size.MAX_BYTES // MIB} MiB"),
    ("values of a document", f"{document_size.MAX_VALUES:,}"),
    ("causes of a 422, conflicts of an apply", f"{errors.MAX_CAUSES}"),
    (
        "one value in an error message; a message",
        f"{fieldpath.MAX_SHOWN:,}; {errors.MAX_MESSAGE:,} characters",
    ),
    (
        "list items and members from which only the first invalid item of a list is reported",
        f"{fail_fast.LARGE:,}",
    ),
    ("document depth", f"{decode.MAX_DEPTH} levels"),
    ("size added by YAML anchors", f"{yaml.MAX_ALIASED // MIB} MiB"),
    (
        "JSON patch operations; size added by copies",
        f"{json_patch.MAX_OPERATIONS:,}; {json_patch.MAX_COPIED // MIB} MiB",
    ),
    ("selector length", f"{parser.MAX_LENGTH // KIB} KiB"),
    ("permissions of a role compared with its writer's", f"{rules.ATOMS_MAX:,}"),
    ("wait for the newest roles before a denial", f"{following.REFRESH_SECONDS:g} s"),
    ("update managers in managedFields", f"{managed_fields.MAX_UPDATE_MANAGERS}"),
    ("attempts at a generated name", f"{store.NAME_ATTEMPTS}"),
    ("charges in one write of a quota", f"{ledger.BATCH:,}"),
    ("writes per SQLite transaction", f"{sqlite.WRITE_BATCH_SIZE:,}"),
    ("time slice of a list, a feed or a review", f"{time_slices.SLICE_SECONDS * 1000:g} ms"),
    (
        "comparisons of a role's permissions with its writer's rules",
        f"{rules.COMPARISONS_MAX:,}",
    ),
    ("list sent as a whole", f"{lists.MAX_WHOLE // KIB} KiB"),
    ("stored object", f"{value_limit.MAX_VALUE_BYTES:,} bytes"),
    ("check of an SQLite file when it is opened", f"{sessions.CHECK_SECONDS:g} s"),
    ("wait of a read for the cache", f"{CACHE.wait:g} s"),
    ("events that wait for a watcher", f"{CACHE.watch.queue:,}"),
    (
        "watch without `timeoutSeconds`",
        " to ".join(f"{seconds / 60:g}" for seconds in LIMITS.watch_seconds) + " min",
    ),
    ("watcher names (`X-Source`) in metrics", f"{watch.MOST_SOURCES}"),
    ("total length of Warning headers", f"{response._MAX_WARNINGS_LENGTH:,} characters"),
    ("health check", f"{health.TIMEOUT_SECONDS:g} s"),
    (
        "shutdown",
        f"{ServerConfig().shutdown_timeout} s for requests,"
        f" then {supervised_worker.SHUTDOWN_MARGIN} s",
    ),
]


@pytest.mark.parametrize(("what", "size"), SIZES)
def test_a_limit_has_the_size_that_the_page_says(what: str, size: str) -> None:
    assert f"| {what} | {size} |" in TABLE


def test_the_files_exist() -> None:
    files = {str(path.relative_to(ROOT)) for path in ROOT.glob("api*/**/*.py")}
    named = re.findall(r"`([\w/]+\.py)`", TABLE)

    assert named
    assert not [name for name in named if not any(file.endswith(f"/{name}") for file in files)]
