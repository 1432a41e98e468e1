"""`apiserver storage delete`: remove the objects of a resource that nobody serves any more."""

import argparse
import asyncio
import sys
from typing import Any, Final

from apimachinery.schema import GroupResource
from apiserver.commands.open_store import Progress, open_store
from apiserver.controlplane.standard_server import standard_groups
from apiserver.evolution.running_servers import registered_servers
from apiserver.storage.interface import Backend, Record, RevisionConflict, StorageError
from apiserver.storage.stored_resources import PAGE, count_below, is_defined, prefix_of

DELETE: Final = """\
Delete all objects of a resource from a store, such as those of a group that no server has any more:

  apiserver storage delete sqlite:///.apiserver/store.sqlite widgets.example.io
  apiserver storage delete etcd://10.0.0.1:2379 widgets.example.io --namespace shop --yes

The objects are removed at once: finalizers and owners are not considered, and no admission is
asked. `apiserver storage list` shows which resources a store contains.

It is refused while a running server serves the resource: delete its objects through that server,
as with `kubectl delete widgets --all`. It is refused for resources that every server serves, and
for custom resources whose CustomResourceDefinition is stored, unless --force is given.
"""


def add_parser(actions: Any) -> None:
    """Add this action to the parser of `apiserver storage`."""
    parser = actions.add_parser(
        "delete",
        help="delete the objects of a resource that nobody serves any more",
        description=DELETE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="URL", help="the URL of the store")
    parser.add_argument(
        "resource", metavar="RESOURCE.GROUP", help="the resource, such as widgets.example.io"
    )
    parser.add_argument(
        "-n", "--namespace", default="", metavar="NS", help="only the objects in this namespace"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument(
        "--force",
        action="store_true",
        help="even if every server serves the resource, or a stored definition defines it",
    )
    parser.set_defaults(run=_delete)


async def check_unserved(backend: Backend, resource: GroupResource, *, force: bool) -> None:
    """Raise StorageError if somebody serves a resource, or will when a server starts."""
    servers = [each for each in await registered_servers(backend) if each.serves(resource)]
    if servers:
        names = ", ".join(server.name for server in servers)
        raise StorageError(
            f"{resource} is served by {names}: delete its objects through the server"
        )
    if force:
        return
    standard = {
        GroupResource(group.name, each.name)
        for group in standard_groups()
        for each in group.resources
    }
    if resource in standard:
        raise StorageError(
            f"every server serves {resource}: delete its objects through one, or use --force"
        )
    if await is_defined(backend, resource):
        raise StorageError(
            f"the CustomResourceDefinition {resource} is stored, so servers serve its objects:"
            " delete it, or the objects, through a server, or use --force"
        )


async def delete_records(
    backend: Backend,
    resource: GroupResource,
    *,
    namespace: str,
    force: bool,
    progress: Progress,
) -> int:
    """Delete all objects of a resource and return their number. Raises StorageError."""
    prefix, deleted = prefix_of(resource, namespace), 0
    while True:
        # A server that starts to serve them while they are deleted stops this.
        await check_unserved(backend, resource, force=force)
        page = await backend.range(prefix, limit=PAGE)
        async with asyncio.TaskGroup() as deletions:
            for record in page.records:
                deletions.create_task(_remove(backend, record))
        deleted += len(page.records)
        if page.records:
            progress.show(deleted, deleted + page.remaining)
        if not page.remaining:
            return deleted


async def _remove(backend: Backend, record: Record | None) -> None:
    while record is not None:
        try:
            await backend.delete(record.key, revision=record.revision)
            return
        except RevisionConflict as conflict:
            record = conflict.current


def _delete(args: argparse.Namespace) -> int:
    name, _, group = args.resource.partition(".")
    resource = GroupResource(group, name)
    where = f" in namespace {args.namespace}" if args.namespace else ""
    count = asyncio.run(_count(args, resource))
    if not count:
        raise StorageError(
            f"the store has no objects of {resource}{where};"
            " `apiserver storage list` shows what it has"
        )
    # Asked outside of the event loop, which would not let Ctrl-C end the question.
    if not args.yes and not _confirmed(f"{count} objects of {resource}{where}"):
        print("nothing is deleted")
        return 1
    deleted = asyncio.run(_delete_all(args, resource))
    print(f"deleted {deleted} objects of {resource}{where}")
    return 0


async def _count(args: argparse.Namespace, resource: GroupResource) -> int:
    async with open_store(args.source) as backend:
        count = await count_below(backend, prefix_of(resource, args.namespace))
        if count:
            await check_unserved(backend, resource, force=args.force)
        return count


async def _delete_all(args: argparse.Namespace, resource: GroupResource) -> int:
    async with open_store(args.source) as backend:
        try:
            deleted = await delete_records(
                backend,
                resource,
                namespace=args.namespace,
                force=args.force,
                progress=Progress(),
            )
        except* StorageError as errors:
            raise errors.exceptions[0] from None
    return deleted


def _confirmed(objects: str) -> bool:
    """Ask on the terminal. Raises StorageError if there is none."""
    if not sys.stdin.isatty():
        raise StorageError(f"would delete {objects}: use --yes where no terminal can confirm it")
    print(f"This deletes {objects}, whatever their finalizers; it cannot be undone.")
    return input("Delete them? [y/N] ").strip().lower() in ("y", "yes")
