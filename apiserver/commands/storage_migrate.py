"""`apiserver storage migrate`: rewrite stored objects in the shape and version of today's types."""

import argparse
import asyncio
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from apiserver.commands.check import check_groups
from apiserver.commands.open_store import ObjectProgress, Progress
from apiserver.commands.serve import add_settings, given_flags, search_current_folder
from apiserver.commands.text_table import aligned
from apiserver.config import ServerConfig, load_config
from apiserver.evolution.accepted_loss import AcceptedLoss
from apiserver.evolution.judgement import Judgement
from apiserver.evolution.migration import KindMigration, MigrationReport, Pace
from apiserver.evolution.start import ShapeStart
from apiserver.install import Groups
from apiserver.process.start_check import Candidate, groups_on_store, may_have_objects
from apiserver.storage.interface import Backend, StorageError
from apiserver.storage.stored_resources import count_below, prefix_of

RATE: Final = 500.0
"""Objects per second, unless --rate says otherwise."""
EXAMPLES: Final = 20
"""The number of objects left alone that are named for each resource."""
SETTINGS_USED: Final = ("groups", "storage", "data_dir", "accept_field_loss")
MIGRATE: Final = """\
Rewrite stored objects in the shape and the storage version of today's types. Servers read objects
of older shapes anyway, and rewrite each at its next write; after a migration none is left, so that
the declared upgrades of old shapes can be removed from the code:

  apiserver storage migrate gadgets:GADGETS --storage etcd://10.0.0.1:2379
  apiserver storage migrate gadgets:GADGETS --resource gadgets.gadgets.example.io --rate 50
  apiserver storage migrate gadgets:GADGETS --dry-run

Servers of the same release may run and write meanwhile: a concurrent write wins. Watches report a
rewritten object as MODIFIED; nothing but its resourceVersion changes for them. Run it again after
an interruption: it continues, and objects that are done are skipped.

It is refused when a start with these groups would be refused. Objects that cannot be read
completely are left as they are and reported; then the exit code is 1.
"""


def add_parser(actions: Any) -> None:
    """Add this action to the parser of `apiserver storage`."""
    parser = actions.add_parser(
        "migrate",
        help="rewrite objects in the shape of today's types",
        description=MIGRATE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser, positional="groups", only=SETTINGS_USED)
    parser.add_argument(
        "--resource",
        metavar="RESOURCE.GROUP",
        action="append",
        default=[],
        help="only this resource; can be repeated (default: all resources of the groups)",
    )
    parser.add_argument(
        "--rate",
        type=_rate,
        default=RATE,
        metavar="N",
        help=f"the maximum number of objects to write per second (default {RATE:.0f}; 0: no limit)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="write nothing, and show what would be rewritten"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    search_current_folder()
    config = load_config(os.environ, given_flags(args))
    candidate = check_groups(config)
    reports = asyncio.run(_migrate(config, candidate, args))
    print("\n".join(_text(reports, dry_run=args.dry_run)))
    return 1 if any(report.left for report in reports) else 0


async def _migrate(
    config: ServerConfig, candidate: Candidate, args: argparse.Namespace
) -> list[MigrationReport]:
    # A mistyped path would open a new, empty store.
    if not may_have_objects(config.storage_url):
        raise StorageError("there is no store; check its URL")
    async with groups_on_store(config, candidate) as (groups, backend):
        start = ShapeStart(backend, AcceptedLoss.parse(config.accept_field_loss))
        judgements = _selected(await groups.check_shapes(start), args.resource)
        migrations = _migrations(groups, backend, start, judgements, args)
        counts = [await count_below(backend, prefix_of(each.kind.resource)) for each in judgements]
        progress = ObjectProgress(Progress(), sum(counts))
        try:
            for migration in migrations:
                await migration.run(progress.one)
        except* StorageError as errors:
            raise errors.exceptions[0] from None
        progress.end()
    return [migration.report for migration in migrations if migration.report.objects]


def _selected(judgements: Sequence[Judgement], names: Collection[str]) -> list[Judgement]:
    known = {judgement.kind.name for judgement in judgements}
    for name in names:
        if name not in known:
            raise StorageError(f"--resource: {name!r} is not stored by any of the groups")
    return [each for each in judgements if not names or each.kind.name in names]


def _migrations(
    groups: Groups,
    backend: Backend,
    start: ShapeStart,
    judgements: Sequence[Judgement],
    args: argparse.Namespace,
) -> list[KindMigration]:
    pace = Pace(args.rate)
    return [
        KindMigration(
            backend,
            start,
            judgement,
            seconds_to_live=groups.store(judgement.kind.resource).rules.seconds_to_live,
            pace=pace,
            dry_run=args.dry_run,
        )
        for judgement in judgements
    ]


def _text(reports: Sequence[MigrationReport], *, dry_run: bool) -> Iterator[str]:
    if reports:
        rows = [
            (report.resource, *map(str, (report.current, report.rewritten, len(report.left))))
            for report in reports
        ]
        yield aligned([("RESOURCE", "CURRENT", "REWRITTEN", "LEFT"), *rows])
    for report in reports:
        for example in report.left[:EXAMPLES]:
            yield f"{report.resource}: {example.object} is left as it is: {example.message}"
        if len(report.left) > EXAMPLES:
            yield f"{report.resource}: {len(report.left) - EXAMPLES} more are left as they are"
    rewritten = sum(report.rewritten for report in reports)
    left = sum(len(report.left) for report in reports)
    words = "would be rewritten" if dry_run else "rewritten"
    yield f"{rewritten} objects {words}" + (f", {left} left as they are" if left else "")


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 <= rate < float("inf"):
        raise argparse.ArgumentTypeError("must not be negative")
    return rate
