"""`apiserver storage verify`: check the file of a store for damage, and release it if it is sound.

A server that notices damage takes no writes from then on. Whoever restores the file, or decides to
go on with what is left of it, says so with this command.
"""

import argparse
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from apiserver.storage.interface import StorageError
from apiserver.storage.sqlite.backend import parse_url
from apiserver.storage.sqlite.damage import DamageRecord, find_damage
from apiserver.storage.sqlite.schema import open_file, retry_busy

VERIFY: Final = """\
Check the whole file of an SQLite store for damage:

  apiserver storage verify sqlite:///.apiserver/store.sqlite

If it is sound, the store takes writes again, in case that a server has noticed damage before. Run
it after you have restored the file from a backup. The exit code is 1 if the file is damaged.
"""


def add_parser(actions: Any) -> None:
    """Add this action to the parser of `apiserver storage`."""
    parser = actions.add_parser(
        "verify",
        help="check an SQLite file for damage",
        description=VERIFY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="URL", help="the URL of the store")
    parser.set_defaults(run=_verify)


def _verify(args: argparse.Namespace) -> int:
    path = _file_of(args.source)
    record = DamageRecord(path)
    with closing(open_file(path)) as connection:
        problems = retry_busy(lambda: find_damage(connection))
    if problems:
        print(f"{path} is damaged; restore it from a backup:")
        for problem in problems:
            print(f"  {problem}")
        record.note("; ".join(problems))
        return 1
    if reason := record.reason:
        print(f"no longer recorded as damaged: {reason}")
        record.clear()
    print(f"{path} is sound")
    return 0


def _file_of(url: str) -> Path:
    if not url.startswith("sqlite:"):
        raise StorageError("only the file of an SQLite store can be verified; etcd checks itself")
    path = parse_url(url).path
    if path is None or not path.exists():
        raise StorageError("there is no such file; check the URL")
    return path
