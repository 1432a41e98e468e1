"""The page about the way of a request names files that exist and limits that hold."""

import re
from pathlib import Path

import pytest

from apimachinery.apply import managed_fields
from apimachinery.model import decoding as decode
from apimachinery.patch import json_patch
from apimachinery.selectors import parser
from apimachinery.serialization import serializer, yaml
from apis.rbac import rules
from apiserver.auth import service_account_tokens as service_accounts
from apiserver.config import ServerConfig
from apiserver.handlers import watch
from apiserver.http import response
from apiserver.http.request_limits import Limits
from apiserver.pages import health
from apiserver.process import connection, serving, worker
from apiserver.registry import following, store
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.sqlite import backend as sqlite

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/request-flow.md").read_text()
TABLE = PAGE.partition("## Every queue and limit")[2]
KIB, MIB = 1024, 1024 * 1024
LIMITS, CACHE = Limits(), CacheLimits()
SIZES = [
    ("TLS handshake", f"{worker.HANDSHAKE_TIMEOUT:g} s"),
    ("head of a request, from its first byte", f"{connection.HEAD_SECONDS:g} s"),
    ("a client that takes nothing of its answer", f"{connection.STALL_SECONDS:g} s"),
    ("idle connection", f"{serving.KEEP_ALIVE} s"),
    ("request line, one header", f"{serving.LONGEST_LINE // KIB} KiB"),
    ("requests being served, reading / writing", f"{LIMITS.reads} / {LIMITS.writes}"),
    ("time for a request", f"{LIMITS.request_seconds:g} s"),
    (
        "tokens of service accounts whose signature is known",
        f"{service_accounts.REMEMBERED:,}",
    ),
    ("body", f"{serializer.MAX_BYTES // MIB} MiB"),
    ("depth of a document", f"{decode.MAX_DEPTH} levels"),
    ("what YAML anchors may add", f"{yaml.MAX_ALIASED // MIB} MiB"),
    (
        "operations of a JSON patch; what its copies may add",
        f"{json_patch.MAX_OPERATIONS:,}; {json_patch.MAX_COPIED // MIB} MiB",
    ),
    ("length of a selector", f"{parser.MAX_LENGTH // KIB} KiB"),
    ("permissions of a role that are compared with its writer's", f"{rules.ATOMS_MAX:,}"),
    ("a refusal that waits for the newest roles", f"{following.REFRESH_SECONDS:g} s"),
    ("managers that update, in managedFields", f"{managed_fields.MAX_UPDATE_MANAGERS}"),
    ("generated names that are tried", f"{store.NAME_ATTEMPTS}"),
    ("writes in one SQLite transaction", f"{sqlite.WRITES_TOGETHER:,}"),
    ("a read that waits for the cache", f"{CACHE.wait:g} s"),
    ("events that wait for one watcher", f"{CACHE.watch.queue:,}"),
    (
        "a watch that does not say how long",
        " to ".join(f"{seconds / 60:g}" for seconds in LIMITS.watch_seconds) + " min",
    ),
    ("names of watchers (`X-Source`) in the metrics", f"{watch.MOST_SOURCES}"),
    ("texts of all Warning headers", f"{response._LONGEST_WARNINGS:,} characters"),
    ("a health check", f"{health.PATIENCE:g} s"),
    (
        "a stop",
        f"{ServerConfig().shutdown_timeout} s for requests, then {worker.LAST_STEPS} s",
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
