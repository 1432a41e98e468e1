"""`apiserver check`: find out before a deployment whether a server with these groups would start.

Each phase raises StartRefused with all its problems, or returns what the next one needs.
"""

import argparse
import os
from typing import Any, Final

from apiserver.commands.serve import add_settings, given_flags
from apiserver.config import ServerConfig, load_config
from apiserver.process.loading import search_current_folder
from apiserver.process.start_check import Candidate, StartRefused, load_candidate

SETTINGS_USED: Final = ("groups", "storage", "data_dir")
DESCRIPTION: Final = """\
Check API groups as `apiserver serve` does at its start and before a reload: every version,
resource, subresource, column and field selector must make sense for its type. Prints "ok", or every
problem, and then exits with 1. Under a gunicorn of your own, run it before a reload.
"""
EPILOG: Final = """\
examples:
  apiserver check gadgets:GADGETS
  apiserver check gadgets:GADGETS --storage etcd://10.0.0.1:2379
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser of `apiserver`."""
    parser = commands.add_parser(
        "check",
        help="check API groups before they are served",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser, positional="groups", only=SETTINGS_USED)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    search_current_folder()
    config = load_config(os.environ, given_flags(args))
    check_groups(config)
    print("ok")
    return 0


def check_groups(config: ServerConfig) -> Candidate:
    """Return the groups of a configuration, registered and checked. Raises StartRefused."""
    candidate = load_candidate(config.groups)
    if candidate.problems:
        raise StartRefused(candidate.problems)
    return candidate
