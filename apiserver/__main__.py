"""The `apiserver` command."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from apimachinery.extras import MissingExtra, name_missing_extra

DESCRIPTION: Final = (
    "Serve versioned, declarative APIs that kubectl and every Kubernetes client can use."
)
COMMANDS: Final = ("serve", "check", "controllers", "kubeconfig", "storage")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; report mistakes in its use without a traceback."""
    try:
        with name_missing_extra():
            parser = _load_parser(sys.argv[1:] if arguments is None else arguments)
    except MissingExtra as error:
        return _report(error)
    args = parser.parse_args(arguments)
    try:
        code: int = args.run(args)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if not isinstance(error, _mistakes()):
            raise
        return _report(error)
    return code


def _load_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the command that *arguments* name, or of all commands."""
    parser = argparse.ArgumentParser(prog="apiserver", description=DESCRIPTION)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    named = [name for name in arguments[:1] if name in COMMANDS]
    # Imported late: the master of a server must not import what the other commands need. And
    # without the extra `server`, main reports that it is missing.
    for name in named or COMMANDS:
        import_module(f"apiserver.commands.{name}").add_parser(commands)
    return parser


def _mistakes() -> tuple[type[Exception], ...]:
    """Return the errors that are mistakes of the caller."""
    from apimachinery.certificates import CertificateError
    from apiserver.auth.static_tokens import InvalidTokenFile
    from apiserver.config import ServerConfigError
    from apiserver.process.data_dir import DataDirError
    from apiserver.process.start_report import StartRefused
    from apiserver.storage.interface import StorageError

    return (
        *(ServerConfigError, DataDirError, StartRefused),
        *(CertificateError, InvalidTokenFile, StorageError),
    )


def _report(error: Exception) -> int:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"apiserver: {line}", file=sys.stderr)
    return 1


class _Version(argparse.Action):
    """Prints the version; looked up only then, since that reads the metadata of packages."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("apimachinery")
        except PackageNotFoundError:
            found = "of the source tree"
        parser.exit(message=f"apiserver {found}\n")


if __name__ == "__main__":
    sys.exit(main())
