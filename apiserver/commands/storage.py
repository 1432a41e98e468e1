"""`apiserver storage`: look into a store, copy, migrate, verify, compact or clean it."""

import argparse
import asyncio
from typing import Any, Final

from apiserver.commands import storage_delete, storage_list, storage_migrate, storage_verify
from apiserver.commands.open_store import Progress, open_store
from apiserver.evolution.catalogue import SHAPES
from apiserver.storage.interface import Backend, KeyExists, Record, RevisionConflict, StorageError
from apiserver.storage.keys import ROOT

PAGE: Final = 500
"""The number of records read, and then written, at once."""

COPY: Final = """\
Copy every object from one store to another, from one snapshot, such as from the SQLite file of a
first start to etcd:

  apiserver storage copy sqlite:///.apiserver/store.sqlite etcd://10.0.0.1:2379

Objects get new resource versions, so clients must list again. Stop the server first, so that no
write is missed. Objects with a time to live (events) no longer expire in the target. What the store
knows about the shapes of its objects is copied, too, so types can change together with the store.
"""
COMPACT: Final = """\
Delete the history of a store now; the newest state of every object is kept:

  apiserver storage compact sqlite:///.apiserver/store.sqlite

A running server compacts regularly and keeps the history of some minutes. Watches that resume from
a compacted revision get 410, and their clients list again.
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "storage", help="list, copy, migrate, verify, compact or clean a store"
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    storage_list.add_parser(actions)
    storage_delete.add_parser(actions)
    storage_migrate.add_parser(actions)
    storage_verify.add_parser(actions)
    copy = actions.add_parser(
        "copy",
        help="copy every object from one store to another",
        description=COPY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    copy.add_argument("source", metavar="FROM", help="the URL of the store to read")
    copy.add_argument("target", metavar="TO", help="the URL of the store to write")
    copy.add_argument(
        "--overwrite", action="store_true", help="replace objects that exist in the target"
    )
    copy.set_defaults(run=lambda args: asyncio.run(_copy(args)))
    compact = actions.add_parser(
        "compact",
        help="delete the history of a store",
        description=COMPACT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compact.add_argument("source", metavar="URL", help="the URL of the store")
    compact.set_defaults(run=lambda args: asyncio.run(_compact(args)))


async def copy_records(
    source: Backend, target: Backend, *, overwrite: bool, progress: Progress
) -> int:
    """Copy all objects, and the catalogue of their shapes; return the number of objects.

    Raises StorageError.
    """
    # A mistyped path would open a new, empty store.
    if not (await source.range(ROOT, limit=1)).records:
        raise StorageError("the source has no objects; check its URL")
    if not overwrite and (await target.range(ROOT, limit=1)).records:
        raise StorageError("the target already has objects; use --overwrite to replace them")
    # As a server does: a shape is catalogued before the first object of it is written.
    for shape in (await source.range(SHAPES)).records:
        await _write(target, shape)
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
        # The smallest key after the last one.
        start = page.records[-1].key + "\0"


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
    async with open_store(args.source) as source, open_store(args.target) as target:
        try:
            copied = await copy_records(
                source, target, overwrite=args.overwrite, progress=Progress()
            )
        except* StorageError as group:
            raise group.exceptions[0] from None
    print(f"copied {copied} objects")
    return 0


async def _compact(args: argparse.Namespace) -> int:
    async with open_store(args.source) as backend:
        revision = await backend.current_revision()
        await backend.compact(revision)
    print(f"compacted to revision {revision}")
    return 0
