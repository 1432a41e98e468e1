"""`apiserver check`: find out before a deployment whether a server with these groups would start.

And whether it could read what is stored. The groups are checked as at a start; then every stored
object is read with their code. Nothing is written.
"""

import argparse
import asyncio
import os
from typing import Any, Final

from apiserver.commands.check_report import StoreReport, as_json, as_text
from apiserver.commands.open_store import ObjectProgress, Progress
from apiserver.commands.serve import add_settings, given_flags, search_current_folder
from apiserver.commands.stored_rules import stored_rules
from apiserver.config import ServerConfig, load_config
from apiserver.evolution.accepted_loss import AcceptedLoss
from apiserver.evolution.inspection import inspect
from apiserver.evolution.start import ShapeStart
from apiserver.install import Groups
from apiserver.process.start_check import (
    Candidate,
    groups_on_store,
    load_candidate,
    may_have_objects,
)
from apiserver.process.start_report import StartRefused
from apiserver.storage.interface import Backend, StorageError
from apiserver.storage.keys import ROOT
from apiserver.storage.stored_resources import count_below, is_defined, prefix_of, stored_resources

SETTINGS_USED: Final = ("groups", "storage", "data_dir", "accept_field_loss")
DESCRIPTION: Final = """\
Check API groups as `apiserver serve` does at its start and before a reload: every version,
resource, subresource, column and field selector must make sense for its type. Prints every problem
and exits with 1, or prints "ok". Under a gunicorn of your own, run it before a reload.

If there is a store, every stored object of the groups is then read with their code. For each
resource, an object counts in the first of these columns that applies:

  UNREADABLE  it cannot be decoded, or not be converted to a served version
  LOSING      it has values for which the type has no field: a write would lose them
  NEWER       a newer release has stored it; writes that would lose fields are refused
  REFUSED     it is read, but a write of the same values would be refused
  UPGRADED    it was stored in another shape, and is upgraded whenever it is read
  FINE        it is served as it is stored

Resources that nobody serves with these groups are listed; custom resources are not read. The exit
code is 1 if a start would be refused, or if any object is LOSING or UNREADABLE; with --strict also
if any is REFUSED. Nothing is written, and servers may run meanwhile.
"""
EPILOG: Final = """\
examples:
  apiserver check gadgets:GADGETS
  apiserver check gadgets:GADGETS --storage etcd://10.0.0.1:2379
  apiserver check gadgets:GADGETS --storage sqlite:///backup.sqlite --strict -o json
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "check",
        help="check API groups, and the stored objects, before they are served",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser, positional="groups", only=SETTINGS_USED)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail also if today's rules refuse values of stored objects",
    )
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="default: text"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    search_current_folder()
    config = load_config(os.environ, given_flags(args))
    candidate = check_groups(config)
    report = asyncio.run(check_stored_objects(config, candidate, Progress()))
    show = as_json if args.output == "json" else as_text
    print(show(report, strict=args.strict) if report else _nothing_stored(args.output))
    return 0 if report is None or report.is_ok(strict=args.strict) else 1


def check_groups(config: ServerConfig) -> Candidate:
    """Return the groups of a configuration, registered and checked. Raises StartRefused."""
    candidate = load_candidate(config.groups)
    if candidate.problems:
        raise StartRefused(candidate.problems)
    return candidate


async def check_stored_objects(
    config: ServerConfig, candidate: Candidate, progress: Progress
) -> StoreReport | None:
    """Read all objects with the code of the groups; return None if there is no store yet.

    Raises StorageError, also if a store is given and does not exist: its URL may be mistyped.
    """
    if not may_have_objects(config.storage_url):
        if config.storage and ":memory:" not in config.storage:
            raise StorageError("--storage: there is no store; check its URL")
        return None
    async with groups_on_store(config, candidate) as (groups, backend):
        start = ShapeStart(backend, AcceptedLoss.parse(config.accept_field_loss))
        kinds = {kind.resource: store for kind, store in groups.stored_kinds()}
        compared = await start.compare(kind for kind, _ in groups.stored_kinds())
        losses = await start.losses(compared)
        judgements = [start.with_evidence(judgement) for judgement in compared]
        by_name = {group.name: group for group in candidate.groups}
        counted = ObjectProgress(progress, await count_below(backend, ROOT))
        reports = []
        for judgement in judgements:
            kind = judgement.kind
            strategy = kinds[kind.resource].rules.strategy
            rules = stored_rules(groups, by_name[kind.resource.group], kind, strategy)
            reports.append(await inspect(backend, judgement, rules, counted.one))
        unserved = await _unserved(groups, backend)
        counted.end()
        return StoreReport(
            [report for report in reports if report.objects],
            unserved,
            losses,
            [_reload_note(problem) for problem in await start.misreading_servers(judgements)],
        )


async def _unserved(groups: Groups, backend: Backend) -> dict[str, int]:
    """Return the resources that nobody serves with these groups, with their number of objects."""
    served = {kind.resource for kind, _ in groups.stored_kinds()}
    found: dict[str, int] = {}
    async for resource in stored_resources(backend):
        if resource not in served and not await is_defined(backend, resource):
            found[str(resource)] = await count_below(backend, prefix_of(resource))
    return found


def _reload_note(problem: str) -> str:
    return f"{problem}. A reload (SIGHUP) replaces the workers of its own server by itself"


def _nothing_stored(output: str) -> str:
    return '{"ok": true}' if output == "json" else "ok"
