"""The `apiserver` command."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from apimachinery.extras import MissingExtra, name_missing_extra

DESCRIPTION: Final = (
    "Serve versioned, declarative APIs that kubectl and every Kubernetes client can use."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; report mistakes in its use without a traceback."""
    try:
        with name_missing_extra():
            parser, mistakes = _load_commands()
    except MissingExtra as error:
        return _report(error)
    args = parser.parse_args(arguments)
    try:
        code: int = args.run(args)
    except mistakes as error:
        return _report(error)
    except KeyboardInterrupt:
        return 130
    return code


def _load_commands() -> tuple[argparse.ArgumentParser, tuple[type[Exception], ...]]:
    """Return the parser, and the errors that are mistakes of the caller."""
    # Imported late: without the extra `server`, main reports that it is missing.
    from apiserver.auth.static_tokens import InvalidTokenFile
    from apiserver.commands import check, kubeconfig, serve, storage
    from apiserver.config import ServerConfigError
    from apiserver.process.certificates import CertificateError
    from apiserver.process.data_folder import DataDirError
    from apiserver.process.start_check import StartRefused
    from apiserver.storage.interface import StorageError

    parser = argparse.ArgumentParser(prog="apiserver", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"apiserver {_version()}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (serve, check, kubeconfig, storage):
        command.add_parser(commands)
    return parser, (
        *(ServerConfigError, DataDirError, StartRefused),
        *(CertificateError, InvalidTokenFile, StorageError),
    )


def _report(error: Exception) -> int:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"apiserver: {line}", file=sys.stderr)
    return 1


def _version() -> str:
    try:
        return version("apimachinery")
    except PackageNotFoundError:
        return "of the source tree"


if __name__ == "__main__":
    sys.exit(main())
