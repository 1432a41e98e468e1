"""`apiserver storage`: look after a store, and move from one to another."""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from apiserver.storage.backends import open_backend
from apiserver.storage.interface import Backend, KeyExists, Record, RevisionConflict, StorageError
from apiserver.storage.keys import ROOT

PAGE: Final = 500
"""Records that are read, and then written, together."""

COPY: Final = """\
Copy every object from one store to another, as of one moment, such as from the SQLite file of a
first start to etcd:

  apiserver storage copy sqlite:///.apiserver/store.sqlite etcd://10.0.0.1:2379

Objects get new resource versions, so clients must list again; stop the server before, so that no
write is missed. What was to expire by itself (events) stays.
"""
COMPACT: Final = """\
Forget all but the newest state of every object, at once:

  apiserver storage compact sqlite:///.apiserver/store.sqlite

A server does this by itself and keeps the history of some minutes. Watches that would resume from
what is forgotten are told 410, and clients list again.
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser("storage", help="copy or compact a store")
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    copy = actions.add_parser(
        "copy",
        help="copy every object from one store to another",
        description=COPY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    copy.add_argument("source", metavar="FROM", help="the URL of the store to read")
    copy.add_argument("target", metavar="TO", help="the URL of the store to write")
    copy.add_argument(
        "--overwrite", action="store_true", help="replace objects that the target has already"
    )
    copy.set_defaults(run=lambda args: asyncio.run(_copy(args)))
    compact = actions.add_parser(
        "compact",
        help="forget the history of a store",
        description=COMPACT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compact.add_argument("source", metavar="URL", help="the URL of the store")
    compact.set_defaults(run=lambda args: asyncio.run(_compact(args)))


async def copy_records(
    source: Backend, target: Backend, *, overwrite: bool, progress: "Progress"
) -> int:
    """Copy everything below the registry's root and return how many records there were."""
    # A mistyped path is a new, empty store.
    if not (await source.range(ROOT, limit=1)).records:
        raise StorageError("the source holds no objects; is its URL right?")
    if not overwrite and (await target.range(ROOT, limit=1)).records:
        raise StorageError("the target holds objects already; --overwrite replaces them")
    revision: int | None = None
    start, copied = ROOT, 0
    while True:
        page = await source.range(ROOT, start=start, limit=PAGE, revision=revision)
        revision = page.revision
        async with asyncio.TaskGroup() as writes:
            for record in page.records:
                writes.create_task(_write(target, record))
        copied += len(page.records)
        progress.show(copied, copied + page.remaining)
        if not page.remaining:
            return copied
        # The least key that is greater.
        start = page.records[-1].key + "\0"


class Progress:
    """A line that is written over while there is somebody to see it."""

    def __init__(self) -> None:
        self._shown = 0.0

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and (done == total or now - self._shown > 0.2):
            self._shown = now
            end = "\n" if done == total else ""
            print(f"\r{done} of {total} objects", end=end, file=sys.stderr, flush=True)


async def _write(target: Backend, record: Record) -> None:
    while True:
        try:
            await target.create(record.key, record.value)
            return
        except KeyExists:
            current = await target.get(record.key)
        if current is None:
            continue
        try:
            await target.update(record.key, record.value, revision=current.revision)
            return
        except RevisionConflict:
            continue


async def _copy(args: argparse.Namespace) -> int:
    async with _opened(args.source) as source, _opened(args.target) as target:
        try:
            copied = await copy_records(
                source, target, overwrite=args.overwrite, progress=Progress()
            )
        except* StorageError as group:
            raise group.exceptions[0] from None
    print(f"copied {copied} objects")
    return 0


async def _compact(args: argparse.Namespace) -> int:
    async with _opened(args.source) as backend:
        revision = await backend.current_revision()
        await backend.compact(revision)
    print(f"compacted to revision {revision}")
    return 0


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Backend]:
    backend = await open_backend(url)
    try:
        yield backend
    finally:
        await backend.close()
